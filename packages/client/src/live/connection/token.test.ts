import { expect, test, vi } from 'vitest'
import { closeCodes } from '@plenum/protocol/realtime'
import { jwt } from '../../../test/support/fake-server.ts'
import { collectErrors, settle, useFakes } from '../../../test/support/fakes.ts'
import type { LiveDocument } from '../../index.ts'

const fakes = useFakes()
const { connect, untilNextSocket, warnings } = fakes

/** A token whose claims say that it expires at this time. */
const expiringAt = (date: string) =>
  jwt(btoa(JSON.stringify({ exp: Date.parse(date) / 1000 })).replace(/=+$/, ''))

test('[K3.2] a token is reused by the next connection until it expires', async () => {
  let calls = 0
  await connect({ token: () => jwt(`${++calls}`) })
  fakes.server.socket.authenticate(Date.now() / 1000 + 60)
  fakes.server.socket.disconnect()
  await untilNextSocket()
  fakes.server.socket.authenticate(Date.now() / 1000 + 60)
  expect(fakes.server.socket.messages).toEqual([{ type: 'auth', token: jwt('1') }])
  await vi.advanceTimersByTimeAsync(29_000)
  fakes.server.socket.deliver({ type: 'pong' })
  await vi.advanceTimersByTimeAsync(31_000)
  fakes.server.socket.disconnect()
  await untilNextSocket()
  fakes.server.socket.disconnect()
  await untilNextSocket()
  fakes.server.socket.accept()
  expect(fakes.server.socket.messages).toEqual([{ type: 'auth', token: jwt('2') }])
})

test('[K3.2] the token callback is called only after connection.document has returned', async () => {
  const connection = fakes.server.connect({ token: () => jwt(`for-${document.status}`) })
  fakes.closeAfterTest(connection)
  const document: LiveDocument = connection.document('org_1', 'doc_1')
  await settle()
  fakes.server.socket.accept()
  expect(fakes.server.socket.messages).toEqual([{ type: 'auth', token: jwt('for-connecting') }])
})

test('[K3.2] a token that expires soon is replaced on the open connection', async () => {
  let calls = 0
  const connection = await connect({ token: async () => jwt(`${++calls}`) })
  fakes.server.socket.authenticate()
  fakes.server.socket.deliver({ type: 'tokenExpiring', expiresAt: 4_000_000_000 })
  fakes.server.socket.deliver({ type: 'tokenExpiring', expiresAt: 4_000_000_000 })
  await settle()
  expect(fakes.server.socket.sent('auth').at(-1)).toEqual({ type: 'auth', token: jwt('2') })
  expect(calls).toBe(2)
  fakes.server.socket.deliver({ type: 'ready', connectionId: 'c', userId: 'ada', expiresAt: 4_000_009_000 })
  expect(connection.status).toBe('connected')
  expect(fakes.server.sockets).toHaveLength(1)
})

test('[K3.2] a token callback that fails, hangs or returns no token is reported and called again', async () => {
  const answers = [
    () => Promise.reject(new Error('offline')),
    () => new Promise<string>(() => {}),
    () => 5 as never,
    () => jwt('good'),
  ]
  const connection = fakes.server.connect({ token: () => answers.shift()?.() ?? jwt('none') })
  fakes.closeAfterTest(connection)
  connection.reconnect()
  const errors = collectErrors(connection)
  await vi.advanceTimersByTimeAsync(60_000)
  expect(errors.map(({ status, message }) => [status, message])).toEqual([
    ['UNAUTHENTICATED', 'The token callback failed: offline'],
    ['UNAUTHENTICATED', 'The token callback failed: no answer within 30 seconds'],
    [
      'UNAUTHENTICATED',
      'The token must be a string, not number. Pass a token from auth.generateToken, or a callback that returns one.',
    ],
  ])
  fakes.server.socket.accept()
  expect(fakes.server.socket.messages).toEqual([{ type: 'auth', token: jwt('good') }])
})

test('[K3.2] a token that arrives after the connection was closed opens no socket', async () => {
  let resolveToken: (token: string) => void = () => {}
  const connection = await connect({ token: () => new Promise((resolve) => (resolveToken = resolve)) })
  connection.close()
  resolveToken(jwt('late'))
  await settle()
  expect(fakes.server.sockets).toHaveLength(0)
})

test.each([
  [
    '<!doctype html><title>Sign in</title>',
    'The token is not a JWT: it begins with `<!doctype html>`. Does your token endpoint answer with a web page?',
  ],
  ['\n<HTML LANG="en" CLASS="no-js">', 'it begins with `<HTML LANG="en" CLAS`.'],
  ['<token>secret</token>', 'it begins with `<token>`.'],
  [
    '{"token":"secret"}',
    'a string of 18 characters that looks like JSON. Parse it and pass the token inside.',
  ],
  ['Bearer secret', 'a string of 13 characters with white space.'],
  [
    `${btoa('{"alg":"HS256"}')}.secret.secret`,
    'This is the auth token of an API key, which must stay in your backend.',
  ],
  ['secret', 'a string of 6 characters. Pass a token from auth.generateToken.'],
  ['secret.secret.secret.secret.secret', 'a string of 34 characters.'],
  ['', 'The token is an empty string. Is the user signed in?'],
  [{ token: 'secret' }, 'The token must be a string, not an object. Pass its field `token`.'],
  [undefined, 'not undefined. Pass a token from auth.generateToken, or a callback that returns one.'],
  [null, 'not null.'],
  [['secret'], 'not object.'],
])('[K11.3] the token %j is not sent, and the error shows no secret', async (token, reason) => {
  const connection = fakes.server.connect({ token: token as never })
  fakes.closeAfterTest(connection)
  const errors = collectErrors(connection)
  connection.document('acme', 'roadmap')
  await settle()
  expect(fakes.server.sockets).toEqual([])
  expect(connection.status).toBe('denied')
  expect(errors).toMatchObject([{ status: 'UNAUTHENTICATED', message: expect.stringContaining(reason) }])
  expect(warnings()).toEqual([`[plenum] ${errors[0]?.message}`])
  expect(warnings().join()).not.toContain('secret')
})

test('[K11.3] [K11.4] a callback that returns no token is called again, and each reason is reported once', async () => {
  const answers: unknown[] = ['<html>', '<html>', undefined, jwt('good')]
  const connection = await connect({ token: () => answers.shift() as string })
  const errors = collectErrors(connection)
  await untilNextSocket()
  fakes.server.socket.accept()
  expect(fakes.server.socket.messages).toEqual([{ type: 'auth', token: jwt('good') }])
  // The first answer came before there was a listener, and the second one has the same reason.
  expect(errors).toHaveLength(1)
  expect(warnings()).toHaveLength(2)
})

test('[K11.3] a connection stays open if the callback returns no token for the renewal', async () => {
  const answers: unknown[] = [jwt('first'), '']
  const connection = await connect({ token: () => answers.shift() as string })
  const errors = collectErrors(connection)
  fakes.server.socket.authenticate()
  fakes.server.socket.deliver({ type: 'tokenExpiring', expiresAt: 4_000_000_000 })
  await settle()
  expect(errors).toMatchObject([{ message: 'The token is an empty string. Is the user signed in?' }])
  expect(connection.status).toBe('connected')
  expect(fakes.server.socket.sent('auth')).toHaveLength(1)
})

test('[K11.2] the error of a token callback is shown in the console if there is no listener', async () => {
  const connection = await connect({ token: () => Promise.reject(new Error('HTTP 401')) })
  expect(warnings()).toEqual(['[plenum] The token callback failed: HTTP 401'])
  expect(connection.lastError?.message).toBe('The token callback failed: HTTP 401')
})

test('[K11] [K11.3] the error for an expired token says when it expired and what to do', async () => {
  const token = expiringAt('2026-01-02T03:04:05Z')
  const expired = 'token_expired: The token has expired.'
  const withString = await connect({ token })
  fakes.server.socket.accept()
  fakes.server.socket.disconnect(closeCodes.unauthenticated, expired)
  expect(withString.lastError).toMatchObject({
    status: 'UNAUTHENTICATED',
    message:
      'The token expired at 2026-01-02T03:04:05.000Z. Pass `token` as a callback that returns a new one.',
  })
  const withCallback = await connect({ token: () => token })
  for (let time = 0; time < 2; time++) {
    fakes.server.socket.accept()
    fakes.server.socket.disconnect(closeCodes.unauthenticated, expired)
    await settle()
  }
  expect(withCallback.lastError?.message).toBe(
    'The token expired at 2026-01-02T03:04:05.000Z. The token callback must return a new token on every call.',
  )
  expect(warnings().join()).not.toContain(token)
})

test('[K11] the error for a token of another server says that this server did not issue it', async () => {
  const connection = await connect()
  fakes.server.socket.accept()
  fakes.server.socket.disconnect(
    closeCodes.unauthenticated,
    'token_invalid: The token was not issued by this server.',
  )
  expect(connection.lastError?.message).toBe(
    'The server refused the token: The token was not issued by this server. Generate one with auth.generateToken on this server, for an existing API key.',
  )
})
