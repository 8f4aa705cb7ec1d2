import { expect, test, vi } from 'vitest'
import { closeCodes } from '@plenum/protocol/realtime'
import { at, state, useDocumentScene, valuesOf } from '../../../test/support/document-scene.ts'
import { collectErrors } from '../../../test/support/fakes.ts'

const { fakes, acceptDocument, openDocument, reconnect } = useDocumentScene()

test('[K4] a document requests the changes since its position after a reconnect, and applies them', async () => {
  const { document } = await openDocument()
  expect(fakes.server.socket.sent('open')).toEqual([
    {
      type: 'open',
      ref: 1,
      organizationId: 'org_1',
      documentId: 'doc_1',
      topics: ['presence', 'liveState'],
    },
  ])
  const ref = acceptDocument(5, [state('a', { n: 1 }), state('b', { n: 1 })])
  fakes.server.socket.deliver({ type: 'liveState', ref, position: at(7), states: [state('b', { n: 2 })] })
  await reconnect()
  expect(document.status).toBe('reconnecting')
  expect(fakes.server.socket.sent('open')[0]).toMatchObject({ since: at(7) })
  acceptDocument(9, [state('c', { n: 3 })], { reset: false })
  expect(document.status).toBe('connected')
  expect(valuesOf(document, 'a', 'b', 'c')).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }])
  await reconnect()
  expect(fakes.server.socket.sent('open')[0]).toMatchObject({ since: at(9) })
})

test('[K4] a document drops the live states that the server does not send when the document opens with another epoch', async () => {
  const { document } = await openDocument()
  acceptDocument(5, [state('a', { n: 1 }), state('b', { n: 1 })])
  const values: unknown[] = []
  document.liveState('b').subscribe((value) => values.push(value))
  await reconnect()
  acceptDocument(2, [state('a', { n: 9 })], { epoch: 'f' })
  expect(valuesOf(document, 'a', 'b')).toEqual([{ n: 9 }, undefined])
  expect(values).toEqual([undefined])
})

test('[K4] a document drops its own stored change when it opens with another epoch', async () => {
  const { document } = await openDocument()
  acceptDocument(5)
  const set = document.liveState('a').set({ n: 1 })
  fakes.server.socket.deliver({ type: 'done', id: 1, position: at(100) })
  await set
  expect(valuesOf(document, 'a')).toEqual([{ n: 1 }])
  await reconnect()
  acceptDocument(2, [], { epoch: 'f' })
  expect(valuesOf(document, 'a')).toEqual([undefined])
})

test('[K4] a document is opened again, without a position, when changes of another epoch arrive', async () => {
  const { document } = await openDocument()
  const ref = acceptDocument(5, [state('a', { n: 1 })])
  fakes.server.socket.deliver({
    type: 'liveState',
    ref,
    position: at(6, 'f'),
    states: [state('b', { n: 2 })],
  })
  expect(fakes.server.socket.sent('close')).toEqual([{ type: 'close', ref }])
  expect(fakes.server.socket.sent('open').at(-1)).not.toHaveProperty('since')
  acceptDocument(6, [state('b', { n: 2 })], { epoch: 'f' })
  expect(valuesOf(document, 'a', 'b')).toEqual([undefined, { n: 2 }])
})

test('[K4] a document ignores changes before its position', async () => {
  const { document } = await openDocument()
  const ref = acceptDocument(5, [state('a', { n: 5 })])
  fakes.server.socket.deliver({ type: 'liveState', ref, position: at(4), states: [state('a', { n: 4 })] })
  expect(valuesOf(document, 'a')).toEqual([{ n: 5 }])
})

test('[K4] a document ignores messages to its earlier ref', async () => {
  const { document } = await openDocument()
  const ref = acceptDocument(5)
  fakes.server.socket.deliver({ type: 'closed', ref, code: closeCodes.unavailable, reason: 'later' })
  expect(document.status).toBe('reconnecting')
  await vi.advanceTimersByTimeAsync(100)
  expect(acceptDocument(5)).toBe(2)
  expect(document.status).toBe('connected')
  fakes.server.socket.deliver({ type: 'liveState', ref, position: at(6), states: [state('a', { n: 1 })] })
  fakes.server.socket.deliver({ type: 'closed', ref, code: closeCodes.permissionDenied, reason: 'no' })
  expect(valuesOf(document, 'a')).toEqual([undefined])
  expect(document.status).toBe('connected')
})

test('[K3] a reconnect does not open a deleted document again, but the application can after document.close()', async () => {
  const { connection, document } = await openDocument()
  const ref = acceptDocument(5, [state('a', { n: 1 })])
  const editor = document.editor('note')
  fakes.server.socket.deliver({ type: 'closed', ref, code: closeCodes.gone, reason: 'Deleted.' })
  expect(connection.status).toBe('connected')
  expect(document.status).toBe('failed')
  expect(editor.status).toBe('failed')
  await reconnect()
  expect(fakes.server.socket.sent('open')).toEqual([])
  document.close()
  connection.document('org_1', 'doc_1')
  expect(fakes.server.socket.sent('open')).toHaveLength(1)
})

test('[K3.1] a document that a rate limit closes is retried, and emits the reason once as an error', async () => {
  const { document, connection } = await openDocument()
  const errors = [document, connection].map(collectErrors)
  const reason = 'At most 5 documents a minute (LIMIT_CREATED_BY_OPENING_PER_MINUTE).'
  const refuse = () => {
    const ref = fakes.server.socket.sent('open').at(-1)?.ref ?? 0
    fakes.server.socket.deliver({ type: 'closed', ref, code: closeCodes.rateLimited, reason })
  }
  fakes.server.socket.authenticate()
  refuse()
  expect(document.status).toBe('reconnecting')
  const error = { status: 'RESOURCE_EXHAUSTED', message: `org_1/doc_1: ${reason}`, details: { code: 4029 } }
  expect(errors).toMatchObject([[error], [error]])
  await vi.advanceTimersByTimeAsync(200)
  refuse()
  expect(fakes.server.socket.sent('open')).toHaveLength(2)
  expect(errors).toMatchObject([[error], [error]])
  await vi.advanceTimersByTimeAsync(400)
  acceptDocument(5)
  expect(document.status).toBe('connected')
})
