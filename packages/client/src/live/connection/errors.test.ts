import { describe, expect, test, vi } from 'vitest'
import { closeCodes } from '@plenum/protocol/realtime'
import { jwt } from '../../../test/support/fake-server.ts'
import { settle, useFakes } from '../../../test/support/fakes.ts'
import type { ApiError, Connection } from '../../index.ts'

const fakes = useFakes()
const { connect, untilNextSocket, warnings } = fakes

const inPage = (origin: string) => vi.stubGlobal('location', new URL(origin))

/** A document with an editor; the connection is welcomed. */
async function openEditor(options: Parameters<typeof connect>[0] = {}) {
  const connection = await connect(options)
  const document = connection.document('acme', 'roadmap')
  const editor = document.editor('note')
  fakes.server.socket.welcome()
  return { connection, document, editor }
}

const refOf = () => fakes.server.socket.sent('open')[0]?.ref ?? 0
const closeDocument = (code: number, reason: string) =>
  fakes.server.socket.say({ type: 'closed', ref: refOf(), code, reason })

function errorsOf(...sources: { on: Connection['on'] }[]): ApiError[][] {
  return sources.map((source) => {
    const errors: ApiError[] = []
    source.on('error', (error) => errors.push(error))
    return errors
  })
}

describe('[K11] the error event', () => {
  test('[K11] a connection that ends tells its documents and editors too, each once', async () => {
    const { connection, document, editor } = await openEditor()
    const heard = errorsOf(connection, document, editor)
    fakes.server.socket.drop(closeCodes.badMessage, 'The message is malformed.')
    const error = connection.lastError
    expect(error).toMatchObject({
      status: 'INVALID_ARGUMENT',
      message: 'The message is malformed. Use the same version of the client and the server.',
      details: { code: 4400 },
    })
    expect(heard).toEqual([[error], [error], [error]])
    await expect(editor.whenSynced).rejects.toBe(error)
  })

  test('[K11] a document that is denied names itself and the way to grant access', async () => {
    const { connection, document, editor } = await openEditor()
    const other = connection.document('acme', 'other')
    const heard = errorsOf(connection, document, editor)
    const [unrelated] = errorsOf(other)
    closeDocument(closeCodes.permissionDenied, 'The user may not open this document.')
    expect(document.status).toBe('denied')
    const message =
      "acme/roadmap: The user may not open this document. Check the user's access with permissions.get, and grant it with permissions.add."
    expect(heard).toMatchObject([[{ message }], [{ message }], [{ message }]])
    expect(unrelated).toEqual([])
    // The document has its own reason; that of the connection adds nothing.
    fakes.server.socket.drop(closeCodes.tooMany, 'Too many.')
    expect(heard.map((errors) => errors.length)).toEqual([2, 1, 1])
    expect(unrelated).toHaveLength(1)
  })

  test('[K11] a document that was deleted says what opening it again does', async () => {
    const { connection, document } = await openEditor()
    const [heard] = errorsOf(document)
    closeDocument(closeCodes.gone, 'The document was deleted.')
    expect(heard).toMatchObject([
      {
        status: 'NOT_FOUND',
        message:
          'acme/roadmap: The document was deleted. Close the document. Opening it again creates a new, empty one.',
      },
    ])
    document.close()
    connection.document('acme', 'roadmap')
    expect(fakes.server.socket.sent('open')).toHaveLength(2)
  })

  test('[K11] an editor that fails alone tells its document and the connection', async () => {
    const { connection, document, editor } = await openEditor()
    const position = { epoch: 'e', seq: 1 }
    fakes.server.socket.say({ type: 'opened', ref: refOf(), accessRole: 'editor', position, reset: true })
    const channel = fakes.server.socket.sent('openEditor')[0]?.channel ?? 0
    const heard = errorsOf(connection, document, editor)
    const reason = 'At most 1000 editors in a document.'
    fakes.server.socket.say({ type: 'editorClosed', channel, code: closeCodes.tooMany, reason })
    expect(editor.status).toBe('failed')
    const message = `acme/roadmap/note: ${reason} Close documents and editors that are not in use, or raise the limit on the server.`
    const error = { status: 'RESOURCE_EXHAUSTED', message }
    expect(heard).toMatchObject([[error], [error], [error]])
  })
})

describe('[K11.2] a warning in the console', () => {
  test('[K11.2] shows an error that nobody listens to, once', async () => {
    const { connection } = await openEditor()
    const end = () => fakes.server.socket.drop(closeCodes.badMessage, 'The message is malformed.')
    end()
    connection.reconnect()
    await settle()
    fakes.server.socket.welcome()
    end()
    expect(warnings()).toEqual([
      '[plenum] The message is malformed. Use the same version of the client and the server.',
    ])
  })

  test.each(['connection', 'document', 'editor'] as const)(
    '[K11.2] is not needed when somebody listens to the errors of the %s',
    async (listening) => {
      const scene = await openEditor()
      errorsOf(scene[listening])
      closeDocument(closeCodes.permissionDenied, 'The user may not open this document.')
      fakes.server.socket.drop(closeCodes.badMessage, 'The message is malformed.')
      // The connection failed for all, so a listener of the document that had ended before does not count.
      expect(warnings()).toHaveLength(listening === 'connection' ? 0 : 1)
      expect(warnings().join()).not.toContain('may not open')
    },
  )

  test('[K11.2] names a refused origin and the call that allows it, also when somebody listens', async () => {
    inPage('http://localhost:5173/notes')
    const { connection } = await openEditor({ token: jwt('secret') })
    const [heard] = errorsOf(connection)
    fakes.server.socket.drop(
      closeCodes.permissionDenied,
      'The origin is not among the allowed domains of the API key.',
    )
    const message =
      "The page's origin http://localhost:5173 is not among the allowed domains of the API key. Allow it with client.domains.add({ domains: ['localhost'] })."
    expect(heard).toMatchObject([{ status: 'PERMISSION_DENIED', message }])
    expect(warnings()).toEqual([`[plenum] ${message}`])
  })

  test('[K11.2] is not shown by a build for production', async () => {
    vi.stubEnv('NODE_ENV', 'production')
    await openEditor()
    fakes.server.socket.drop(closeCodes.permissionDenied)
    await connect({ token: 'no token' })
    vi.unstubAllEnvs()
    expect(warnings()).toEqual([])
  })

  test('[K11.2] is shown where there is no process', async () => {
    const { connection } = await openEditor()
    vi.stubGlobal('process', undefined)
    fakes.server.socket.drop(closeCodes.badMessage)
    vi.unstubAllGlobals()
    expect(warnings()).toEqual([`[plenum] ${connection.lastError?.message}`])
  })

  test('[K11.2] is shown for 50 causes, not for ever more', async () => {
    const { connection } = await openEditor()
    for (let n = 0; n < 100; n++) {
      const { documentId } = connection.document('acme', `doc_${n}`)
      const ref = fakes.server.socket.sent('open').at(-1)?.ref ?? 0
      fakes.server.socket.say({
        type: 'closed',
        ref,
        code: closeCodes.gone,
        reason: `${documentId} is gone.`,
      })
    }
    expect(warnings()).toHaveLength(50)
  })
})

describe('[K11.2] a server that does not answer', () => {
  const silence = (attempts: number) =>
    `Plenum does not answer at ws://plenum.test/base/realtime after ${attempts} attempts: is the server running, and is the address right?`

  test('[K11.2] [K11.4] is warned of after three attempts, and again only after it was connected', async () => {
    const connection = await connect()
    const [heard] = errorsOf(connection)
    const fail = async (times: number) => {
      for (let time = 0; time < times; time++) {
        fakes.server.socket.drop()
        await untilNextSocket()
      }
    }
    await fail(2)
    expect(warnings()).toEqual([])
    expect(connection.lastError?.message).toBe(
      'Could not connect to ws://plenum.test/base/realtime (code 1006). The client tries again.',
    )
    await fail(1)
    expect(warnings()).toEqual([`[plenum] ${silence(3)}`])
    await fail(5)
    expect(warnings()).toHaveLength(1)
    expect(connection.lastError).toMatchObject({ status: 'UNAVAILABLE', message: silence(8) })
    fakes.server.socket.welcome()
    await fail(3)
    expect(warnings()).toHaveLength(1)
    await fail(1)
    expect(warnings()).toEqual(Array(2).fill(`[plenum] ${silence(3)}`))
    expect(heard).toEqual([])
  })

  test('[K11.2] is not one that says why it closes', async () => {
    const connection = await connect()
    for (let attempt = 0; attempt < 5; attempt++) {
      fakes.server.socket.drop(closeCodes.unavailable, 'The token could not be checked.')
      await untilNextSocket()
    }
    expect(warnings()).toEqual([])
    expect(connection.lastError?.message).toContain('The token could not be checked.')
  })

  test('[K11.2] is one that accepts the socket and stays silent', async () => {
    await connect()
    for (let attempt = 0; attempt < 3; attempt++) {
      fakes.server.socket.accept()
      await untilNextSocket()
    }
    expect(warnings()).toEqual([`[plenum] ${silence(3)}`])
  })
})

describe('[K11.1] lastError', () => {
  test('[K11.1] is known while the connection is lost, and to listeners of the status', async () => {
    const connection = await connect()
    const seen: unknown[] = []
    connection.subscribe((status) => seen.push([status, connection.lastError?.message]))
    fakes.server.socket.welcome()
    expect(connection.lastError).toBeUndefined()
    fakes.server.socket.drop(closeCodes.restarting, 'The server restarts.')
    await untilNextSocket()
    fakes.server.socket.welcome()
    fakes.server.socket.drop(closeCodes.tooMany, 'Too many.')
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

  test('[K11.1] says what the WebSocket class says', async () => {
    const connection = await connect()
    fakes.server.socket.dispatchEvent(
      Object.assign(new Event('error'), { message: 'connect ECONNREFUSED 127.0.0.1:1' }),
    )
    fakes.server.socket.drop()
    expect(connection.lastError?.message).toContain('(connect ECONNREFUSED 127.0.0.1:1)')
  })
})

describe('[K11.3] a token', () => {
  /** Claims that expire at that moment. */
  const expiring = (at: string) =>
    jwt(btoa(JSON.stringify({ exp: Date.parse(at) / 1000 })).replace(/=+$/, ''))

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
  ])('[K11.3] %j is not sent, and the reason shows no secret', async (token, reason) => {
    const connection = fakes.server.connect({ token: token as never })
    fakes.closeLater(connection)
    const [heard = []] = errorsOf(connection)
    connection.document('acme', 'roadmap')
    await settle()
    expect(fakes.server.sockets).toEqual([])
    expect(connection.status).toBe('denied')
    expect(heard).toMatchObject([{ status: 'UNAUTHENTICATED', message: expect.stringContaining(reason) }])
    expect(warnings()).toEqual([`[plenum] ${heard[0]?.message}`])
    expect(warnings().join()).not.toContain('secret')
  })

  test('[K11.3] [K11.4] of a callback that is not one is asked for again, and warned of once', async () => {
    const answers: unknown[] = ['<html>', '<html>', undefined, jwt('good')]
    const connection = await connect({ token: () => answers.shift() as string })
    const [heard] = errorsOf(connection)
    await untilNextSocket()
    fakes.server.socket.accept()
    expect(fakes.server.socket.messages).toEqual([{ type: 'auth', token: jwt('good') }])
    // Nobody listened when the first one came, and the second one says the same.
    expect(heard).toHaveLength(1)
    expect(warnings()).toHaveLength(2)
  })

  test('[K11.3] of a callback that is not one leaves an open connection as it is', async () => {
    const answers: unknown[] = [jwt('first'), '']
    const connection = await connect({ token: () => answers.shift() as string })
    const [heard] = errorsOf(connection)
    fakes.server.socket.welcome()
    fakes.server.socket.say({ type: 'tokenExpiring', expiresAt: 4_000_000_000 })
    await settle()
    expect(heard).toMatchObject([{ message: 'The token is an empty string. Is the user signed in?' }])
    expect(connection.status).toBe('connected')
    expect(fakes.server.socket.sent('auth')).toHaveLength(1)
  })

  test('[K11.2] a callback that throws is shown when nobody listens', async () => {
    const connection = await connect({ token: () => Promise.reject(new Error('HTTP 401')) })
    expect(warnings()).toEqual(['[plenum] The token callback failed: HTTP 401'])
    expect(connection.lastError?.message).toBe('The token callback failed: HTTP 401')
  })

  test('[K11] [K11.3] that expired says when, and what to do', async () => {
    const token = expiring('2026-01-02T03:04:05Z')
    const expired = 'token_expired: The token has expired.'
    const fixed = await connect({ token })
    fakes.server.socket.accept()
    fakes.server.socket.drop(closeCodes.unauthenticated, expired)
    expect(fixed.lastError).toMatchObject({
      status: 'UNAUTHENTICATED',
      message:
        'The token expired at 2026-01-02T03:04:05.000Z. Pass `token` as a callback that returns a new one.',
    })
    const renewed = await connect({ token: () => token })
    for (let time = 0; time < 2; time++) {
      fakes.server.socket.accept()
      fakes.server.socket.drop(closeCodes.unauthenticated, expired)
      await settle()
    }
    expect(renewed.lastError?.message).toBe(
      'The token expired at 2026-01-02T03:04:05.000Z. The token callback must return a new token on every call.',
    )
    expect(warnings().join()).not.toContain(token)
  })

  test('[K11] of another server is told from one that expired', async () => {
    const connection = await connect()
    fakes.server.socket.accept()
    fakes.server.socket.drop(
      closeCodes.unauthenticated,
      'token_invalid: The token was not issued by this server.',
    )
    expect(connection.lastError?.message).toBe(
      'The server refused the token: The token was not issued by this server. Generate one with auth.generateToken on this server, for an existing API key.',
    )
  })
})
