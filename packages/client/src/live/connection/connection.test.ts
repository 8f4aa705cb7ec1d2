import { describe, expect, test, vi } from 'vitest'
import { closeCodes } from '@plenum/protocol/realtime'
import { jwt } from '../../../test/support/fake-server.ts'
import { settle, useFakes } from '../../../test/support/fakes.ts'
import { type ApiError, createClient, type LiveDocument, type Status } from '../../index.ts'

const fakes = useFakes()
const { connect, untilNextSocket } = fakes

describe('[K2] a connection', () => {
  test('[K2] sends the token first and only there, and nothing else before it is known', async () => {
    const connection = await connect({ token: jwt('secret') })
    connection.document('org_1', 'doc_1')
    expect(fakes.server.socket.url).toBe('ws://plenum.test/base/realtime')
    fakes.server.socket.accept()
    expect(fakes.server.socket.messages).toEqual([{ type: 'auth', token: jwt('secret') }])
    expect(connection.status).toBe('connecting')
    fakes.server.socket.say({ type: 'ready', connectionId: 'c', userId: 'ada', expiresAt: 4_000_000_000 })
    expect(connection.status).toBe('connected')
    expect(connection.userId).toBe('ada')
    expect(fakes.server.socket.messages.map(({ type }) => type)).toEqual(['auth', 'open'])
  })

  test.each([
    ['https://plenum.test', 'wss://plenum.test/realtime'],
    ['http://plenum.test:4000/', 'ws://plenum.test:4000/realtime'],
    ['https://plenum.test/a/b', 'wss://plenum.test/a/b/realtime'],
  ])('[K2] of %s is at %s', async (url, address) => {
    const connection = createClient({ url }).connect({ token: jwt('t'), WebSocket: fakes.server.WebSocket })
    fakes.closeLater(connection)
    connection.document('org_1', 'doc_1')
    await settle()
    expect(fakes.server.socket.url).toBe(address)
  })

  test('[K2] without a WebSocket class says what to give when a document is opened, not before', () => {
    vi.stubGlobal('WebSocket', undefined)
    const connection = createClient({ url: 'http://plenum.test' }).connect({ token: jwt('t') })
    const hint = "Install the package ws and pass its class: import { WebSocket } from 'ws'"
    expect(() => connection.document('org_1', 'doc_1')).toThrow(hint)
    expect(() => connection.reconnect()).toThrow(hint)
    vi.stubGlobal('WebSocket', fakes.server.WebSocket)
    fakes.closeLater(connection)
    expect(connection.document('org_1', 'doc_1').status).toBe('connecting')
  })

  test('[K2] opens a socket when the first document is opened, and watches nothing before', async () => {
    const watch = vi.fn()
    vi.stubGlobal('document', { hidden: false, addEventListener: watch, removeEventListener() {} })
    vi.stubGlobal('addEventListener', watch)
    vi.stubGlobal('removeEventListener', () => {})
    const connection = fakes.server.connect()
    fakes.closeLater(connection)
    await vi.advanceTimersByTimeAsync(60_000)
    expect(connection.status).toBe('connecting')
    expect(fakes.server.sockets).toEqual([])
    expect(watch).not.toHaveBeenCalled()
    expect(vi.getTimerCount()).toBe(0)
    connection.document('org_1', 'doc_1')
    connection.document('org_1', 'doc_2')
    await settle()
    expect(fakes.server.sockets).toHaveLength(1)
    expect(watch).toHaveBeenCalled()
  })

  test('[K2] [K2.3] that is closed before its first document opens nothing', async () => {
    const connection = fakes.server.connect()
    connection.close()
    connection.reconnect()
    await settle()
    expect(connection.status).toBe('closed')
    expect(fakes.server.sockets).toEqual([])
  })

  test('[K2] [K2.3] tells of its status, and of nothing once it is closed', async () => {
    const connection = await connect()
    const heard: Status[] = []
    connection.subscribe((status) => heard.push(status))
    fakes.server.socket.welcome()
    fakes.server.socket.drop()
    await untilNextSocket()
    fakes.server.socket.welcome()
    connection.close()
    expect(heard).toEqual(['connected', 'reconnecting', 'connected', 'closed'])
    expect(fakes.server.socket.readyState).toBe(3)
    connection.reconnect()
    await vi.advanceTimersByTimeAsync(600_000)
    expect(fakes.server.sockets).toHaveLength(2)
    expect(() => connection.document('org_1', 'doc_1')).toThrow('The connection was closed.')
  })

  test('[K2] that an address forbids has failed', async () => {
    function Forbidden() {
      throw new DOMException('insecure', 'SecurityError')
    }
    const connection = await connect({ WebSocket: Forbidden as never })
    expect(connection.status).toBe('failed')
    expect(connection.ended?.reason).toContain('insecure')
  })
})

describe('[K2.1] a lost connection', () => {
  test('[K2.1] is tried again at a moment drawn from a span that doubles up to 30 s', async () => {
    await connect()
    const waits: number[] = []
    for (let attempt = 0; attempt < 10; attempt++) {
      fakes.server.socket.drop()
      waits.push(await untilNextSocket())
    }
    expect(waits).toEqual([100, 200, 400, 800, 1600, 3200, 6400, 12_800, 15_000, 15_000])
    vi.mocked(Math.random).mockReturnValue(0)
    fakes.server.socket.drop()
    expect(await untilNextSocket()).toBe(0)
  })

  test('[K2.1] that lasted comes back soon; one that is cut again and again does not', async () => {
    await connect()
    for (let attempt = 0; attempt < 5; attempt++) {
      fakes.server.socket.welcome()
      fakes.server.socket.drop(closeCodes.unavailable)
      await untilNextSocket()
    }
    fakes.server.socket.welcome()
    fakes.server.socket.drop(closeCodes.slow)
    expect(await untilNextSocket()).toBe(3200)
    fakes.server.socket.welcome()
    await vi.advanceTimersByTimeAsync(10_000)
    fakes.server.socket.drop(closeCodes.restarting)
    const waits: number[] = []
    for (let attempt = 0; attempt < 5; attempt++) {
      waits.push(await untilNextSocket())
      fakes.server.socket.drop()
    }
    expect(waits).toEqual([100, 200, 400, 800, 1600])
  })

  test('[K2.2] comes back when the server said so', async () => {
    const connection = await connect()
    fakes.server.socket.welcome()
    fakes.server.socket.say({ type: 'moved', retryAfterMs: 4000 })
    await vi.advanceTimersByTimeAsync(1000)
    expect(connection.status).toBe('connected')
    fakes.server.socket.drop(closeCodes.restarting)
    expect(connection.status).toBe('reconnecting')
    expect(await untilNextSocket()).toBe(3000)
    fakes.server.socket.welcome()
    fakes.server.socket.say({ type: 'moved', retryAfterMs: 4000 })
    expect(await untilNextSocket()).toBe(4000)
    expect(connection.status).toBe('reconnecting')
    expect(fakes.server.sockets[1]?.readyState).toBe(3)
  })

  test('[K2.1] is noticed by its silence within 30 s', async () => {
    const connection = await connect()
    fakes.server.socket.welcome()
    await vi.advanceTimersByTimeAsync(15_000)
    expect(fakes.server.socket.sent('ping')).toHaveLength(1)
    fakes.server.socket.say({ type: 'pong' })
    await vi.advanceTimersByTimeAsync(15_000)
    expect(fakes.server.socket.sent('ping')).toHaveLength(2)
    await vi.advanceTimersByTimeAsync(14_999)
    expect(connection.status).toBe('connected')
    await vi.advanceTimersByTimeAsync(1)
    expect(connection.status).toBe('reconnecting')
    await untilNextSocket()
    fakes.server.sockets[0]?.say({ type: 'ready', connectionId: 'c', userId: 'late', expiresAt: 1 })
    fakes.server.sockets[0]?.drop(closeCodes.permissionDenied)
    expect(connection.userId).toBe('ada')
    expect(connection.status).toBe('reconnecting')
  })

  test('[K2.1] is not a socket over which anything comes', async () => {
    const connection = await connect()
    fakes.server.socket.welcome()
    for (let second = 0; second < 120; second += 10) {
      fakes.server.socket.sayFrame(9, 'saved', 1)
      await vi.advanceTimersByTimeAsync(10_000)
    }
    expect(connection.status).toBe('connected')
  })

  test('[K2.1] is given up when the server does not greet', async () => {
    await connect()
    fakes.server.socket.accept()
    expect(await untilNextSocket()).toBe(10_100)
    expect(await untilNextSocket()).toBe(10_200)
  })

  test.each(['no JSON', '[]', 'null', '{"type":1}'])('[K2.1] is one that says %s', async (nonsense) => {
    const connection = await connect()
    fakes.server.socket.welcome()
    fakes.server.socket.say(nonsense)
    expect(connection.status).toBe('reconnecting')
  })

  test('[K2.1] is looked after when somebody looks at the page again', async () => {
    const page = Object.assign(new EventTarget(), { hidden: true })
    vi.stubGlobal('document', page)
    vi.stubGlobal('addEventListener', () => {})
    vi.stubGlobal('removeEventListener', () => {})
    const connection = await connect({ idle: false })
    fakes.server.socket.welcome()
    page.dispatchEvent(new Event('visibilitychange'))
    expect(fakes.server.socket.sent('ping')).toHaveLength(0)
    page.hidden = false
    page.dispatchEvent(new Event('visibilitychange'))
    expect(fakes.server.socket.sent('ping')).toHaveLength(1)
    await vi.advanceTimersByTimeAsync(4999)
    expect(connection.status).toBe('connected')
    await vi.advanceTimersByTimeAsync(1)
    expect(connection.status).toBe('reconnecting')
  })

  test('[K2.2] is tried at once when the network is back, and looked after when it seems alive', async () => {
    const page = new EventTarget()
    vi.stubGlobal('addEventListener', page.addEventListener.bind(page))
    vi.stubGlobal('removeEventListener', page.removeEventListener.bind(page))
    vi.mocked(Math.random).mockReturnValue(1)
    const connection = await connect()
    for (let attempt = 0; attempt < 8; attempt++) {
      fakes.server.socket.drop()
      await untilNextSocket()
    }
    fakes.server.socket.drop()
    page.dispatchEvent(new Event('online'))
    await settle()
    expect(fakes.server.sockets).toHaveLength(10)
    fakes.server.socket.welcome()
    page.dispatchEvent(new Event('online'))
    expect(fakes.server.socket.sent('ping')).toHaveLength(1)
    await vi.advanceTimersByTimeAsync(5000)
    expect(connection.status).toBe('reconnecting')
    connection.close()
    page.dispatchEvent(new Event('online'))
    await vi.advanceTimersByTimeAsync(60_000)
    expect(fakes.server.sockets).toHaveLength(10)
  })
})

describe('[K3] what the server ends', () => {
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
  ] as const)('[K3] with %i is %s until told otherwise', async (code, status, advice) => {
    const connection = await connect()
    const document = connection.document('org_1', 'doc_1')
    const editor = document.editor('note')
    const { whenSynced } = editor
    fakes.server.socket.welcome()
    const set = document.liveState('player').set({ position: 1 })
    fakes.server.socket.drop(code, 'Because.')
    for (const one of [connection, document, editor]) {
      expect(one.status).toBe(status)
      expect(one.ended).toEqual({ code, reason: 'Because.' })
    }
    for (const promise of [whenSynced, set, editor.whenSynced, document.liveState('player').set({})]) {
      await expect(promise).rejects.toMatchObject({ name: 'ApiError', message: `Because. ${advice}` })
    }
    await vi.advanceTimersByTimeAsync(600_000)
    expect(fakes.server.sockets).toHaveLength(1)

    connection.reconnect()
    for (const one of [connection, document]) expect(one.status).toBe('reconnecting')
    await settle()
    fakes.server.socket.welcome()
    expect(connection.status).toBe('connected')
    for (const one of [connection, document, editor]) expect(one.ended).toBeUndefined()
    expect(fakes.server.socket.sent('open')).toHaveLength(1)
  })

  test('[K3.2] for want of a valid token is tried once more with a new one', async () => {
    let asked = 0
    const connection = await connect({ token: async () => jwt(`${++asked}`) })
    fakes.server.socket.accept()
    fakes.server.socket.drop(closeCodes.unauthenticated, 'token_expired')
    await settle()
    fakes.server.socket.accept()
    expect(fakes.server.socket.messages).toEqual([{ type: 'auth', token: jwt('2') }])
    fakes.server.socket.drop(closeCodes.unauthenticated, 'token_invalid')
    expect(connection.status).toBe('denied')
    expect(connection.ended).toEqual({ code: 4401, reason: 'token_invalid' })
    connection.reconnect()
    await settle()
    fakes.server.socket.accept()
    expect(fakes.server.socket.messages).toEqual([{ type: 'auth', token: jwt('3') }])
  })

  test('[K3.2] in one document for want of a valid token concerns them all', async () => {
    let asked = 0
    const connection = await connect({ token: async () => jwt(`${++asked}`) })
    connection.document('org_1', 'doc_1')
    fakes.server.socket.welcome()
    fakes.server.socket.say({
      type: 'closed',
      ref: 1,
      code: closeCodes.unauthenticated,
      reason: 'token_expired',
    })
    expect(connection.status).toBe('reconnecting')
    await settle()
    fakes.server.socket.welcome()
    expect(fakes.server.socket.messages).toMatchObject([{ token: jwt('2') }, { type: 'open', ref: 2 }])
    fakes.server.socket.say({
      type: 'closed',
      ref: 2,
      code: closeCodes.unauthenticated,
      reason: 'token_expired',
    })
    expect(connection.status).toBe('denied')
    expect(connection.ended).toEqual({ code: 4401, reason: 'token_expired' })
  })

  test('[K3.2] for want of a valid token again and again is denied, though each was good for a moment', async () => {
    const connection = await connect({ token: async () => jwt('short-lived') })
    for (let time = 0; time < 2; time++) {
      expect(connection.status).not.toBe('denied')
      fakes.server.socket.welcome()
      fakes.server.socket.drop(closeCodes.unauthenticated, 'token_expired')
      await settle()
    }
    expect(connection.status).toBe('denied')
  })

  test('[K3.2] for want of a valid token stays denied when there is no other one', async () => {
    const connection = await connect({ token: jwt('stale') })
    fakes.server.socket.accept()
    fakes.server.socket.drop(closeCodes.unauthenticated, 'token_expired')
    expect(connection.status).toBe('denied')
  })
})

describe('[K3.2] a token', () => {
  test('[K3.2] is kept for the next connection while it is good, and asked for again when it is not', async () => {
    let asked = 0
    await connect({ token: () => jwt(`${++asked}`) })
    fakes.server.socket.welcome(Date.now() / 1000 + 60)
    fakes.server.socket.drop()
    await untilNextSocket()
    fakes.server.socket.welcome(Date.now() / 1000 + 60)
    expect(fakes.server.socket.messages).toEqual([{ type: 'auth', token: jwt('1') }])
    await vi.advanceTimersByTimeAsync(29_000)
    fakes.server.socket.say({ type: 'pong' })
    await vi.advanceTimersByTimeAsync(31_000)
    fakes.server.socket.drop()
    await untilNextSocket()
    fakes.server.socket.drop()
    await untilNextSocket()
    fakes.server.socket.accept()
    expect(fakes.server.socket.messages).toEqual([{ type: 'auth', token: jwt('2') }])
  })

  test('[K3.2] is not asked for before the caller has the document', async () => {
    const connection = fakes.server.connect({ token: () => jwt(`for-${document.status}`) })
    fakes.closeLater(connection)
    const document: LiveDocument = connection.document('org_1', 'doc_1')
    await settle()
    fakes.server.socket.accept()
    expect(fakes.server.socket.messages).toEqual([{ type: 'auth', token: jwt('for-connecting') }])
  })

  test('[K3.2] that is about to expire is replaced on the open connection', async () => {
    let asked = 0
    const connection = await connect({ token: async () => jwt(`${++asked}`) })
    fakes.server.socket.welcome()
    fakes.server.socket.say({ type: 'tokenExpiring', expiresAt: 4_000_000_000 })
    fakes.server.socket.say({ type: 'tokenExpiring', expiresAt: 4_000_000_000 })
    await settle()
    expect(fakes.server.socket.sent('auth').at(-1)).toEqual({ type: 'auth', token: jwt('2') })
    expect(asked).toBe(2)
    fakes.server.socket.say({ type: 'ready', connectionId: 'c', userId: 'ada', expiresAt: 4_000_009_000 })
    expect(connection.status).toBe('connected')
    expect(fakes.server.sockets).toHaveLength(1)
  })

  test('[K3.2] that cannot be had is told and asked for again', async () => {
    const answers = [
      () => Promise.reject(new Error('offline')),
      () => new Promise<string>(() => {}),
      () => 5 as never,
      () => jwt('good'),
    ]
    const connection = fakes.server.connect({ token: () => answers.shift()?.() ?? jwt('none') })
    fakes.closeLater(connection)
    connection.reconnect()
    const errors: ApiError[] = []
    connection.on('error', (error) => errors.push(error))
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

  test('[K3.2] that comes after the connection was closed opens nothing', async () => {
    let give: (token: string) => void = () => {}
    const connection = await connect({ token: () => new Promise((resolve) => (give = resolve)) })
    connection.close()
    give(jwt('late'))
    await settle()
    expect(fakes.server.sockets).toHaveLength(0)
  })
})

test('[K2] a listener that throws is told of as uncaught, and keeps nothing from the others', async () => {
  const connection = await connect()
  const heard: Status[] = []
  connection.subscribe(() => {
    throw new Error('of a listener')
  })
  const unsubscribe = connection.subscribe((status) => heard.push(status))
  const later = vi.spyOn(globalThis, 'queueMicrotask').mockImplementation(() => {})
  fakes.server.socket.welcome()
  unsubscribe()
  connection.close()
  expect(heard).toEqual(['connected'])
  expect(later.mock.calls[0]?.[0]).toThrow('of a listener')
})
