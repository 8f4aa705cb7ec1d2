import { expect, test, vi } from 'vitest'
import { closeCodes } from '@plenum/protocol/realtime'
import { state, useDocumentScene } from '../../../test/support/document-scene.ts'
import { jwt } from '../../../test/support/fake-server.ts'

const { fakes, acceptDocument, openDocument } = useDocumentScene()

/** Advances the clock by more than any retry delay, and expects that no other socket was opened and no timer is left. */
async function expectNoRetry(socketCount: number): Promise<void> {
  await vi.advanceTimersByTimeAsync(60_000)
  expect(fakes.server.sockets).toHaveLength(socketCount)
  expect(vi.getTimerCount()).toBe(0)
}

test.each([
  [1006, 'lost'],
  [closeCodes.permissionDenied, 'denied'],
  [closeCodes.tooMany, 'failed'],
])('[K2.3] a connection that a document listener closes when code %i arrives stays closed', async (code) => {
  const { connection, document } = await openDocument()
  acceptDocument(1)
  document.subscribe(() => connection.close())
  fakes.server.socket.disconnect(code, 'Because.')
  expect(connection.status).toBe('closed')
  expect(document.status).toBe('closed')
  await expectNoRetry(1)
  expect(connection.status).toBe('closed')
})

test('[K2.3] a connection that its status listener closes after a loss stays closed', async () => {
  const connection = await fakes.connect()
  fakes.server.socket.authenticate()
  connection.subscribe((status) => {
    if (status === 'reconnecting') connection.close()
  })
  fakes.server.socket.disconnect()
  expect(connection.status).toBe('closed')
  await expectNoRetry(1)
  expect(connection.status).toBe('closed')
})

test('[K2.3] a connection that its status listener closes when a token is refused stays closed', async () => {
  const connection = await fakes.connect({ token: () => jwt('token') })
  fakes.server.socket.authenticate()
  connection.subscribe((status) => {
    if (status === 'reconnecting') connection.close()
  })
  fakes.server.socket.disconnect(closeCodes.unauthenticated, 'token_expired')
  await expectNoRetry(1)
  expect(connection.status).toBe('closed')
})

test('[K2.3] a connection that its error listener closes when the token callback fails stays closed', async () => {
  const token = vi.fn(() => Promise.reject(new Error('HTTP 401')))
  const connection = fakes.server.connect({ token })
  connection.on('error', () => connection.close())
  connection.reconnect()
  await expectNoRetry(0)
  expect(connection.status).toBe('closed')
  expect(token).toHaveBeenCalledTimes(1)
})

test('[K2.1] a connection that its status listener reconnects after a loss opens one new socket', async () => {
  const connection = await fakes.connect()
  fakes.server.socket.authenticate()
  connection.subscribe((status) => {
    if (status === 'reconnecting') connection.reconnect()
  })
  fakes.server.socket.disconnect()
  await vi.advanceTimersByTimeAsync(0)
  expect(fakes.server.sockets).toHaveLength(2)
  fakes.server.socket.authenticate()
  await vi.advanceTimersByTimeAsync(1000)
  expect(fakes.server.sockets).toHaveLength(2)
  expect(connection.status).toBe('connected')
})

test('[K4] a document that a listener of its live state closes while the document opens stays closed', async () => {
  const { document } = await openDocument()
  document.liveState('a').subscribe(() => document.close())
  acceptDocument(1, [state('a', { n: 1 })])
  expect(document.status).toBe('closed')
  expect(fakes.server.socket.sent('close')).toHaveLength(1)
})

test('[K4] a document that the server closes for now leaves no retry timer if its listener calls document.close()', async () => {
  const { connection, document } = await openDocument()
  const ref = acceptDocument(1)
  document.subscribe(() => document.close())
  fakes.server.socket.deliver({ type: 'closed', ref, code: closeCodes.unavailable, reason: 'later' })
  expect(document.status).toBe('closed')
  // Without a document, only the heartbeat of the connection has a timer.
  expect(vi.getTimerCount()).toBe(1)
  expect(connection.status).toBe('connected')
})
