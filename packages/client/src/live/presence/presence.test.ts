import { describe, expect, test, vi } from 'vitest'
import type { PresentUser } from '@plenum/protocol/realtime'
import { useFakes } from '../../../test/support/fakes.ts'

const fakes = useFakes()
const { connect, untilNextSocket } = fakes

const user = (userId: string, onlineStatus: PresentUser['onlineStatus'] = 'online'): PresentUser => ({
  userId,
  onlineStatus,
  color: '#364fc7',
  source: 'client',
  timestamp: 0,
})

async function openDocument(options?: Parameters<typeof connect>[0]) {
  const connection = await connect(options)
  const document = connection.document('org_1', 'doc_1')
  welcome()
  return { connection, document }
}

function welcome(presence: PresentUser[] = [user('ada')]): void {
  fakes.server.socket.welcome()
  const ref = fakes.server.socket.sent('open')[0]?.ref ?? 0
  const position = { epoch: 'e', seq: 1 }
  fakes.server.socket.say({ type: 'opened', ref, accessRole: 'editor', position, reset: true, presence })
}

const published = () =>
  fakes.server.socket
    .sent('setPresence')
    .map(({ status, data }) => (data === undefined ? status : [status, data]))

/** A page that can be hidden, and in which something can happen. */
function stubPage() {
  const page = Object.assign(new EventTarget(), { hidden: false })
  vi.stubGlobal('document', page)
  return {
    happens: (event: string) => page.dispatchEvent(new Event(event)),
    show(isShown: boolean) {
      page.hidden = !isShown
      page.dispatchEvent(new Event('visibilitychange'))
    },
  }
}

const minute = 60_000

async function pass(ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= 10_000) {
    fakes.server.socket.say({ type: 'pong' })
    await vi.advanceTimersByTimeAsync(Math.min(left, 10_000))
  }
}

describe('[K6] the users of a document', () => {
  test('[K6] follow what the server says', async () => {
    const { document } = await openDocument()
    const heard: string[][] = []
    document.presence.subscribe((users) => heard.push(users.map(({ userId }) => userId)))
    const say = (users: PresentUser[], left: string[]) =>
      fakes.server.socket.say({ type: 'presence', ref: 1, users, left })
    say([user('bob'), user('eve')], [])
    say([user('bob', 'away')], ['eve', 'nobody'])
    expect(heard).toEqual([
      ['ada', 'bob', 'eve'],
      ['ada', 'bob'],
    ])
    expect(document.presence.users).toEqual([user('ada'), user('bob', 'away')])
    fakes.server.socket.drop()
    await untilNextSocket()
    welcome([user('carol')])
    expect(document.presence.users).toEqual([user('carol')])
    document.close()
    expect(document.presence.users).toEqual([])
  })
})

describe('[K6] the own user and the others', () => {
  const ids = (users: readonly PresentUser[]) => users.map(({ userId }) => userId)

  test('[K6] are known when the document is open, and gone when it is closed', async () => {
    const connection = await connect()
    const { presence } = connection.document('org_1', 'doc_1')
    expect([presence.self, presence.others]).toEqual([undefined, []])
    welcome([user('bob'), user('ada'), user('eve')])
    expect(presence.self).toEqual(user('ada'))
    expect(ids(presence.others)).toEqual(['bob', 'eve'])
    connection.close()
    expect([presence.self, presence.others]).toEqual([undefined, []])
  })

  test('[K6] others is the same array until an entry of another user changes, also after a reconnect', async () => {
    const { document } = await openDocument()
    const { presence } = document
    const say = (users: PresentUser[], left: string[] = []) => {
      const ref = fakes.server.socket.sent('open')[0]?.ref ?? 0
      fakes.server.socket.say({ type: 'presence', ref, users, left })
    }
    const list = () => [user('ada'), { ...user('bob'), data: { cursor: 1 } }, user('eve')]
    say(list().slice(1))
    const { others, self } = presence
    say([user('ada', 'away')])
    say([user('eve')])
    expect(presence.others).toBe(others)
    expect(presence.self).not.toBe(self)
    fakes.server.socket.drop()
    await untilNextSocket()
    welcome(list())
    expect(presence.others).toBe(others)
    say([{ ...user('bob'), data: { cursor: 2 } }])
    expect(presence.others).not.toBe(others)
    expect(ids(presence.others)).toEqual(['bob', 'eve'])
    say([], ['bob'])
    expect(ids(presence.others)).toEqual(['eve'])
  })
})

describe('[K6.2] the own presence', () => {
  test('[K6.2] is sent no more than twenty times a second, and the latest in any case', async () => {
    const { document } = await openDocument()
    for (let x = 0; x < 100; x++) {
      document.presence.set({ data: { x } })
      await vi.advanceTimersByTimeAsync(5)
    }
    await vi.advanceTimersByTimeAsync(50)
    const sent = fakes.server.socket.sent('setPresence')
    expect(sent.length).toBeLessThanOrEqual(12)
    expect(sent.at(-1)?.data).toEqual({ x: 99 })
  })

  test('[K6.2] is told again after each connection, unless there is nothing to tell', async () => {
    const { document } = await openDocument()
    expect(published()).toEqual([])
    document.presence.set({ status: 'away', data: { cursor: 1 } })
    document.presence.set({ data: null })
    await vi.advanceTimersByTimeAsync(50)
    fakes.server.socket.drop()
    document.presence.set({ data: { cursor: 2 } })
    await untilNextSocket()
    welcome()
    expect(published()).toEqual([['away', { cursor: 2 }]])
  })

  test('[K6.1] must not be larger than 16 KiB', async () => {
    const { document } = await openDocument()
    expect(() => document.presence.set({ data: { text: 'x'.repeat(16_384) } })).toThrow('16 KiB')
    expect(published()).toEqual([])
  })

  test('[K6.1] with an unknown status throws and says what is accepted', async () => {
    const { document } = await openDocument()
    const set = () => document.presence.set({ status: 'busy' as never, data: { cursor: 1 } })
    expect(set).toThrow('status must be one of online, away, offline.')
    expect(published()).toEqual([])
  })

  test('[K6.3] is away after 5 minutes without a sign of life, offline after 10, back with the next', async () => {
    const page = stubPage()
    await openDocument()
    await pass(4 * minute)
    page.happens('keydown')
    await pass(4.9 * minute)
    expect(published()).toEqual([])
    await pass(0.1 * minute)
    expect(published()).toEqual(['away'])
    await pass(5 * minute)
    expect(published()).toEqual(['away', 'offline'])
    await pass(minute)
    page.happens('pointermove')
    expect(published()).toEqual(['away', 'offline', 'online'])
    await pass(5 * minute)
    expect(published()).toEqual(['away', 'offline', 'online', 'away'])
  })

  test('[K6.3] is away while the page is hidden', async () => {
    const page = stubPage()
    await openDocument()
    page.show(false)
    expect(published()).toEqual(['away'])
    await pass(minute)
    page.show(true)
    expect(published()).toEqual(['away', 'online'])
    page.show(false)
    await pass(10 * minute)
    expect(published()).toEqual(['away', 'online', 'away', 'offline'])
  })

  test('[K6.3] is as it was set until the next sign of life', async () => {
    const page = stubPage()
    const { document } = await openDocument()
    page.happens('pointerdown')
    document.presence.set({ status: 'away' })
    await pass(minute)
    expect(published()).toEqual(['away'])
    page.happens('pointermove')
    expect(published()).toEqual(['away', 'online'])
  })

  test('[K6.3] is left alone where that is wanted, and the times can be others', async () => {
    const page = stubPage()
    const { connection } = await openDocument({ idle: false })
    page.show(false)
    await pass(20 * minute)
    expect(published()).toEqual([])
    connection.close()
    page.show(true)
    await openDocument({ idle: { awayAfterMs: minute, offlineAfterMs: 2 * minute } })
    await pass(2 * minute)
    expect(published()).toEqual(['away', 'offline'])
  })
})
