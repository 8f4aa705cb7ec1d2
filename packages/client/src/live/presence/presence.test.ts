import { expect, test, vi } from 'vitest'
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

const idsOf = (users: readonly PresentUser[]) => users.map(({ userId }) => userId)

async function openDocument(options?: Parameters<typeof connect>[0]) {
  const connection = await connect(options)
  const document = connection.document('org_1', 'doc_1')
  acceptDocument()
  return { connection, document }
}

/** The server accepts the connection and the document, with these users in it. */
function acceptDocument(presence: PresentUser[] = [user('ada')]): void {
  fakes.server.socket.authenticate()
  const ref = fakes.server.socket.sent('open')[0]?.ref ?? 0
  const position = { epoch: 'e', seq: 1 }
  fakes.server.socket.deliver({ type: 'opened', ref, accessRole: 'editor', position, reset: true, presence })
}

function deliverUsers(users: PresentUser[], left: string[] = []): void {
  const ref = fakes.server.socket.sent('open')[0]?.ref ?? 0
  fakes.server.socket.deliver({ type: 'presence', ref, users, left })
}

/** What the client has published on this connection: statuses, or pairs of status and data. */
const published = () =>
  fakes.server.socket
    .sent('setPresence')
    .map(({ status, data }) => (data === undefined ? status : [status, data]))

/** A web page that the test can hide, and in which it can dispatch events. */
function stubPage() {
  const page = Object.assign(new EventTarget(), { hidden: false })
  vi.stubGlobal('document', page)
  return {
    dispatch: (event: string) => page.dispatchEvent(new Event(event)),
    show(isShown: boolean) {
      page.hidden = !isShown
      page.dispatchEvent(new Event('visibilitychange'))
    },
  }
}

const minuteMs = 60_000

/** Advances the clock, while the server answers every ping. */
async function advance(ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= 10_000) {
    fakes.server.socket.deliver({ type: 'pong' })
    await vi.advanceTimersByTimeAsync(Math.min(left, 10_000))
  }
}

test('[K6] the presence list follows the messages of the server, and is empty after the document is closed', async () => {
  const { document } = await openDocument()
  const lists: string[][] = []
  document.presence.subscribe((users) => lists.push(idsOf(users)))
  deliverUsers([user('bob'), user('eve')], [])
  deliverUsers([user('bob', 'away')], ['eve', 'nobody'])
  expect(lists).toEqual([
    ['ada', 'bob', 'eve'],
    ['ada', 'bob'],
  ])
  expect(document.presence.users).toEqual([user('ada'), user('bob', 'away')])
  fakes.server.socket.disconnect()
  await untilNextSocket()
  acceptDocument([user('carol')])
  expect(document.presence.users).toEqual([user('carol')])
  document.close()
  expect(document.presence.users).toEqual([])
})

test('[K6] presence.self and presence.others are set when the document is open, and empty after the connection is closed', async () => {
  const connection = await connect()
  const { presence } = connection.document('org_1', 'doc_1')
  expect([presence.self, presence.others]).toEqual([undefined, []])
  acceptDocument([user('bob'), user('ada'), user('eve')])
  expect(presence.self).toEqual(user('ada'))
  expect(idsOf(presence.others)).toEqual(['bob', 'eve'])
  connection.close()
  expect([presence.self, presence.others]).toEqual([undefined, []])
})

test('[K6] presence.others stays the same array until an entry of another user changes, also after a reconnect', async () => {
  const { document } = await openDocument()
  const { presence } = document
  const list = () => [user('ada'), { ...user('bob'), data: { cursor: 1 } }, user('eve')]
  deliverUsers(list().slice(1))
  const { others, self } = presence
  deliverUsers([user('ada', 'away')])
  deliverUsers([user('eve')])
  expect(presence.others).toBe(others)
  expect(presence.self).not.toBe(self)
  fakes.server.socket.disconnect()
  await untilNextSocket()
  acceptDocument(list())
  expect(presence.others).toBe(others)
  deliverUsers([{ ...user('bob'), data: { cursor: 2 } }])
  expect(presence.others).not.toBe(others)
  expect(idsOf(presence.others)).toEqual(['bob', 'eve'])
  deliverUsers([], ['bob'])
  expect(idsOf(presence.others)).toEqual(['eve'])
})

test('[K6.2] the client sends its own presence at most 20 times a second, and always sends the latest value', async () => {
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

test('[K6.2] the client sends its own presence again after a reconnect, and sends none before the application sets it', async () => {
  const { document } = await openDocument()
  expect(published()).toEqual([])
  document.presence.set({ status: 'away', data: { cursor: 1 } })
  document.presence.set({ data: null })
  await vi.advanceTimersByTimeAsync(50)
  fakes.server.socket.disconnect()
  document.presence.set({ data: { cursor: 2 } })
  await untilNextSocket()
  acceptDocument()
  expect(published()).toEqual([['away', { cursor: 2 }]])
})

test('[K6.1] presence.set throws for data above 16 KiB', async () => {
  const { document } = await openDocument()
  expect(() => document.presence.set({ data: { text: 'x'.repeat(16_384) } })).toThrow('16 KiB')
  expect(published()).toEqual([])
})

test('[K6.1] presence.set throws for an unknown status, and names the known statuses', async () => {
  const { document } = await openDocument()
  const set = () => document.presence.set({ status: 'busy' as never, data: { cursor: 1 } })
  expect(set).toThrow('status must be one of online, away, offline.')
  expect(published()).toEqual([])
})

test('[K6.3] an inactive user is away after 5 minutes, offline after 10, and online with the next activity', async () => {
  const page = stubPage()
  await openDocument()
  await advance(4 * minuteMs)
  page.dispatch('keydown')
  await advance(4.9 * minuteMs)
  expect(published()).toEqual([])
  await advance(0.1 * minuteMs)
  expect(published()).toEqual(['away'])
  await advance(5 * minuteMs)
  expect(published()).toEqual(['away', 'offline'])
  await advance(minuteMs)
  page.dispatch('pointermove')
  expect(published()).toEqual(['away', 'offline', 'online'])
  await advance(5 * minuteMs)
  expect(published()).toEqual(['away', 'offline', 'online', 'away'])
})

test('[K6.3] a user is away while the page is hidden, and offline after it was hidden for 10 minutes', async () => {
  const page = stubPage()
  await openDocument()
  page.show(false)
  expect(published()).toEqual(['away'])
  await advance(minuteMs)
  page.show(true)
  expect(published()).toEqual(['away', 'online'])
  page.show(false)
  await advance(10 * minuteMs)
  expect(published()).toEqual(['away', 'online', 'away', 'offline'])
})

test('[K6.3] a status that the application sets lasts until the next activity', async () => {
  const page = stubPage()
  const { document } = await openDocument()
  page.dispatch('pointerdown')
  document.presence.set({ status: 'away' })
  await advance(minuteMs)
  expect(published()).toEqual(['away'])
  page.dispatch('pointermove')
  expect(published()).toEqual(['away', 'online'])
})

test('[K6.3] the option idle changes the times, or turns the automatic status off', async () => {
  const page = stubPage()
  const { connection } = await openDocument({ idle: false })
  page.show(false)
  await advance(20 * minuteMs)
  expect(published()).toEqual([])
  connection.close()
  page.show(true)
  await openDocument({ idle: { awayAfterMs: minuteMs, offlineAfterMs: 2 * minuteMs } })
  await advance(2 * minuteMs)
  expect(published()).toEqual(['away', 'offline'])
})
