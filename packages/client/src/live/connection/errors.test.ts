import { expect, test } from 'vitest'
import { closeCodes } from '@plenum/protocol/realtime'
import { collectErrors, useFakes } from '../../../test/support/fakes.ts'

const fakes = useFakes()
const { connect, untilNextSocket } = fakes

/** Opens a document with an editor on an authenticated connection. */
async function openEditor() {
  const connection = await connect()
  const document = connection.document('acme', 'roadmap')
  const editor = document.editor('note')
  fakes.server.socket.authenticate()
  return { connection, document, editor }
}

const refOfDocument = () => fakes.server.socket.sent('open')[0]?.ref ?? 0

const closeDocument = (code: number, reason: string) =>
  fakes.server.socket.deliver({ type: 'closed', ref: refOfDocument(), code, reason })

test('[K11] an error that ends the connection is emitted once by the connection, its documents and its editors', async () => {
  const { connection, document, editor } = await openEditor()
  const errors = [connection, document, editor].map(collectErrors)
  fakes.server.socket.disconnect(closeCodes.badMessage, 'The message is malformed.')
  const error = connection.lastError
  expect(error).toMatchObject({
    status: 'INVALID_ARGUMENT',
    message: 'The message is malformed. Use the same version of the client and the server.',
    details: { code: 4400 },
  })
  expect(errors).toEqual([[error], [error], [error]])
  await expect(editor.whenSynced).rejects.toBe(error)
})

test('[K11] the error of a denied document names the document and the call that grants access, and no other document emits it', async () => {
  const { connection, document, editor } = await openEditor()
  const other = connection.document('acme', 'other')
  const errors = [connection, document, editor].map(collectErrors)
  const otherErrors = collectErrors(other)
  closeDocument(closeCodes.permissionDenied, 'The user may not open this document.')
  expect(document.status).toBe('denied')
  const message =
    'acme/roadmap: The user may not open this document. permissions.explain says why. Give the user access with permissions.add.'
  expect(errors).toMatchObject([[{ message }], [{ message }], [{ message }]])
  expect(otherErrors).toEqual([])
  // The document has ended for its own reason, so it does not emit the error of the connection.
  fakes.server.socket.disconnect(closeCodes.tooMany, 'Too many.')
  expect(errors.map(({ length }) => length)).toEqual([2, 1, 1])
  expect(otherErrors).toHaveLength(1)
})

test('[K11] the error of a deleted document says what opening it again does', async () => {
  const { connection, document } = await openEditor()
  const errors = collectErrors(document)
  closeDocument(closeCodes.gone, 'The document was deleted.')
  expect(errors).toMatchObject([
    {
      status: 'NOT_FOUND',
      message:
        'acme/roadmap: The document was deleted. Close the document. Opening it again creates a new, empty one if the user may create documents.',
    },
  ])
  document.close()
  connection.document('acme', 'roadmap')
  expect(fakes.server.socket.sent('open')).toHaveLength(2)
})

test('[K11] an error that ends an editor is emitted by the editor, its document and the connection', async () => {
  const { connection, document, editor } = await openEditor()
  const position = { epoch: 'e', seq: 1 }
  fakes.server.socket.deliver({
    type: 'opened',
    ref: refOfDocument(),
    accessRole: 'editor',
    position,
    reset: true,
  })
  const channel = fakes.server.socket.sent('openEditor')[0]?.channel ?? 0
  const errors = [connection, document, editor].map(collectErrors)
  const reason = 'At most 1000 editors in a document.'
  fakes.server.socket.deliver({ type: 'editorClosed', channel, code: closeCodes.tooMany, reason })
  expect(editor.status).toBe('failed')
  const message = `acme/roadmap/note: ${reason} Close documents and editors that are not in use, or raise the limit on the server.`
  const error = { status: 'RESOURCE_EXHAUSTED', message }
  expect(errors).toMatchObject([[error], [error], [error]])
})

test('[K11.1] lastError explains a lost connection, and is set before status listeners are called', async () => {
  const connection = await connect()
  const seen: unknown[] = []
  connection.subscribe((status) => seen.push([status, connection.lastError?.message]))
  fakes.server.socket.authenticate()
  expect(connection.lastError).toBeUndefined()
  fakes.server.socket.disconnect(closeCodes.restarting, 'The server restarts.')
  await untilNextSocket()
  fakes.server.socket.authenticate()
  fakes.server.socket.disconnect(closeCodes.tooMany, 'Too many.')
  const lost =
    'The connection to ws://plenum.test/base/realtime was lost (The server restarts.). The client reconnects.'
  expect(seen).toEqual([
    ['connected', undefined],
    ['reconnecting', lost],
    ['connected', lost],
    [
      'failed',
      'Too many. Close documents and editors that are not in use, or raise the limit on the server.',
    ],
  ])
})

test('[K11.1] lastError includes the message of the WebSocket class', async () => {
  const connection = await connect()
  fakes.server.socket.dispatchEvent(
    Object.assign(new Event('error'), { message: 'connect ECONNREFUSED 127.0.0.1:1' }),
  )
  fakes.server.socket.disconnect()
  expect(connection.lastError?.message).toContain('(connect ECONNREFUSED 127.0.0.1:1)')
})
