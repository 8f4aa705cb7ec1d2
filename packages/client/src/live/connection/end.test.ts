import { expect, test, vi } from 'vitest'
import { closeCodes } from '@plenum/protocol/realtime'
import { jwt } from '../../../test/support/fake-server.ts'
import { settle, useFakes } from '../../../test/support/fakes.ts'

const fakes = useFakes()
const { connect } = fakes

test.each([
  [closeCodes.permissionDenied, 'denied', "Allow it with client.domains.add({ domains: ['…'] })."],
  [closeCodes.badMessage, 'failed', 'Use the same version of the client and the server.'],
  [
    closeCodes.tooMany,
    'failed',
    'Close documents and editors that are not in use, or raise the limit on the server.',
  ],
  [
    closeCodes.invalidUpdate,
    'failed',
    'The local changes stay in `editor.doc`. Reload the page to continue with the content on the server.',
  ],
] as const)(
  '[K3] a connection that the server closes with %i is %s until the application reconnects',
  async (code, status, advice) => {
    const connection = await connect()
    const document = connection.document('org_1', 'doc_1')
    const editor = document.editor('note')
    const { whenSynced } = editor
    fakes.server.socket.authenticate()
    const set = document.liveState('player').set({ position: 1 })
    fakes.server.socket.disconnect(code, 'Because.')
    for (const session of [connection, document, editor]) {
      expect(session.status).toBe(status)
      expect(session.ended).toEqual({ code, reason: 'Because.' })
    }
    for (const promise of [whenSynced, set, editor.whenSynced, document.liveState('player').set({})]) {
      await expect(promise).rejects.toMatchObject({ name: 'ApiError', message: `Because. ${advice}` })
    }
    await vi.advanceTimersByTimeAsync(600_000)
    expect(fakes.server.sockets).toHaveLength(1)

    connection.reconnect()
    for (const session of [connection, document]) expect(session.status).toBe('reconnecting')
    await settle()
    fakes.server.socket.authenticate()
    expect(connection.status).toBe('connected')
    for (const session of [connection, document, editor]) expect(session.ended).toBeUndefined()
    expect(fakes.server.socket.sent('open')).toHaveLength(1)
  },
)

test('[K3.2] a connection replaces a refused token once, and is then denied until the application reconnects', async () => {
  let calls = 0
  const connection = await connect({ token: async () => jwt(`${++calls}`) })
  fakes.server.socket.accept()
  fakes.server.socket.disconnect(closeCodes.unauthenticated, 'token_expired')
  await settle()
  fakes.server.socket.accept()
  expect(fakes.server.socket.messages).toEqual([{ type: 'auth', token: jwt('2') }])
  fakes.server.socket.disconnect(closeCodes.unauthenticated, 'token_invalid')
  expect(connection.status).toBe('denied')
  expect(connection.ended).toEqual({ code: 4401, reason: 'token_invalid' })
  connection.reconnect()
  await settle()
  fakes.server.socket.accept()
  expect(fakes.server.socket.messages).toEqual([{ type: 'auth', token: jwt('3') }])
})

test('[K3.2] a token that is refused for one document is replaced for the whole connection', async () => {
  let calls = 0
  const connection = await connect({ token: async () => jwt(`${++calls}`) })
  connection.document('org_1', 'doc_1')
  fakes.server.socket.authenticate()
  fakes.server.socket.deliver({
    type: 'closed',
    ref: 1,
    code: closeCodes.unauthenticated,
    reason: 'token_expired',
  })
  expect(connection.status).toBe('reconnecting')
  await settle()
  fakes.server.socket.authenticate()
  expect(fakes.server.socket.messages).toMatchObject([{ token: jwt('2') }, { type: 'open', ref: 2 }])
  fakes.server.socket.deliver({
    type: 'closed',
    ref: 2,
    code: closeCodes.unauthenticated,
    reason: 'token_expired',
  })
  expect(connection.status).toBe('denied')
  expect(connection.ended).toEqual({ code: 4401, reason: 'token_expired' })
})

test('[K3.2] a connection is denied if the token that replaces an expired token expires at once too', async () => {
  const connection = await connect({ token: async () => jwt('short-lived') })
  for (let time = 0; time < 2; time++) {
    expect(connection.status).not.toBe('denied')
    fakes.server.socket.authenticate()
    fakes.server.socket.disconnect(closeCodes.unauthenticated, 'token_expired')
    await settle()
  }
  expect(connection.status).toBe('denied')
})

test('[K3.2] a connection with a fixed token is denied when the token expires', async () => {
  const connection = await connect({ token: jwt('stale') })
  fakes.server.socket.accept()
  fakes.server.socket.disconnect(closeCodes.unauthenticated, 'token_expired')
  expect(connection.status).toBe('denied')
})
