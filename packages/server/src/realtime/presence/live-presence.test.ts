import { beforeEach, describe, expect, test, vi } from 'vitest'
import type { PresentUser } from '@plenum/protocol/realtime'
import type { PresenceEntry } from '../../store/documents/presence.ts'
import { LivePresence } from './live-presence.ts'
import type { IdentityHolder } from './present-person.ts'

const minute = 60_000
let now = 0
let rows: PresenceEntry[] = []
let presence: LivePresence
const run = (steps: Iterator<unknown>) => {
  while (!steps.next().done);
}
beforeEach(() => {
  now = 1_000_000
  rows = []
  presence = new LivePresence({
    now: () => now,
    run,
    onError: () => {},
    read: async (userIds) => rows.filter(({ userId }) => userIds?.includes(userId) ?? true),
  })
})

const clientOf = (userId: string): IdentityHolder => ({
  identity: { userId, name: `Name of ${userId}`, email: undefined, look: { color: '#364fc7' } },
  hasWriteRole: true,
})
const row = (userId: string, fields: Partial<PresenceEntry> = {}): PresenceEntry => ({
  userId,
  look: { color: '#364fc7' },
  status: 'online',
  source: 'rest',
  lastUpdated: now,
  ...fields,
})
const all = () => JSON.parse(presence.all().json) as PresentUser[]
const shown = () => Object.fromEntries(all().map(({ userId, onlineStatus }) => [userId, onlineStatus]))

describe('[R12] the presence list', () => {
  test('[R12.2] the user of a client that does not report idleness is away after 5 and offline after 10 minutes without activity', () => {
    const ada = clientOf('ada')
    presence.enter(ada, false)
    now += 5 * minute - 1
    // A message does not mean that the user is active.
    presence.touch(ada)
    presence.sweep(now)
    expect(shown()).toEqual({ ada: 'online' })
    now += 1
    presence.sweep(now)
    expect(shown()).toEqual({ ada: 'away' })
    now += 5 * minute
    presence.sweep(now)
    expect(shown()).toEqual({ ada: 'offline' })
    presence.markActive(ada)
    expect(shown()).toEqual({ ada: 'online' })
  })

  test('[R12.3] the user of a client that reports idleness keeps the status of the client as long as it sends messages', () => {
    const ada = clientOf('ada')
    presence.enter(ada, true)
    for (let at = 0; at < 20; at++) {
      now += minute
      presence.touch(ada)
      presence.sweep(now)
      expect(shown()).toEqual({ ada: 'online' })
    }
    presence.set(ada, { status: 'away', data: undefined })
    now += minute
    presence.touch(ada)
    presence.markActive(ada)
    expect(shown()).toEqual({ ada: 'away' })
    now += 10 * minute
    presence.sweep(now)
    expect(shown()).toEqual({ ada: 'offline' })
    presence.touch(ada)
    expect(shown()).toEqual({ ada: 'away' })
  })

  test('[R12] the timestamp of an entry is the time of its last change, not of the last message', () => {
    const ada = clientOf('ada')
    presence.enter(ada, true)
    const [{ timestamp } = { timestamp: 0 }] = all()
    expect(timestamp).toBe(now)
    now += 1000
    presence.touch(ada)
    presence.markActive(ada)
    expect(all()).toMatchObject([{ timestamp }])
    presence.set(ada, { status: undefined, data: '{"a":1}' })
    expect(all()).toMatchObject([{ timestamp: now, data: { a: 1 } }])
  })

  test('[R12.5] the later of two updates in the same millisecond wins', async () => {
    const ada = clientOf('ada')
    presence.enter(ada, true)
    rows = [row('ada', { status: 'away' })]
    await presence.backendChanged(['ada'], false)
    expect(all()).toMatchObject([{ onlineStatus: 'away', source: 'rest' }])
    presence.touch(ada)
    expect(all()).toMatchObject([{ onlineStatus: 'online', source: 'client' }])
    rows = []
    await presence.backendChanged(['ada'], true)
    expect(shown()).toEqual({})
    presence.touch(ada)
    expect(shown()).toEqual({ ada: 'online' })
  })

  test('[R12.5] an update of a backend for users without an entry hides no user', async () => {
    presence.enter(clientOf('ada'), true)
    await presence.backendChanged(['ada', 'nobody'], false)
    expect(shown()).toEqual({ ada: 'online' })
  })

  test('[R12.5] a client overrides the older entry of a backend, which is shown again when the client leaves', async () => {
    rows = [row('ada', { status: 'away', lastUpdated: now - 1000 }), row('bob')]
    const ada = clientOf('ada')
    presence.enter(ada, true)
    await presence.load()
    expect(shown()).toEqual({ ada: 'online', bob: 'online' })
    presence.leave(ada)
    expect(shown()).toEqual({ ada: 'away', bob: 'online' })
  })

  test('[R12.5] a slow read does not bring back a user whom a later update removed', async () => {
    const answers: ((rows: PresenceEntry[]) => void)[] = []
    const slow = new LivePresence({
      now: () => now,
      run,
      onError: () => {},
      read: () => new Promise((resolve) => answers.push(resolve)),
    })
    const updates = [slow.backendChanged(['ada'], false), slow.backendChanged(['ada'], true)]
    for (const found of [[row('ada')], []]) {
      await vi.waitFor(() => expect(answers).toHaveLength(1))
      answers.pop()?.(found)
    }
    await Promise.all(updates)
    expect(slow.all()).toEqual({ json: '[]', omittedUserIds: [] })
  })

  test('[R12.5] `dropBackendEntries` drops the entries of backends, also those of a read in progress', async () => {
    rows = [row('bob')]
    await presence.load()
    expect(shown()).toEqual({ bob: 'online' })
    const reading = presence.backendChanged(['cleo'], false)
    rows = [row('cleo')]
    presence.dropBackendEntries()
    await reading
    expect(shown()).toEqual({})
    rows = [row('dan')]
    await presence.load()
    expect(shown()).toEqual({ dan: 'online' })
  })

  test('[R12.8] a subscriber gets changes together in one message, and no message if nothing has changed', () => {
    vi.useFakeTimers()
    try {
      const sent: string[][] = []
      const frames: unknown[] = []
      const subscriber = {
        onPresenceChanged: (frame: { of(ref: number): Buffer }, userIds: readonly string[]) => {
          sent.push([...userIds])
          frames.push(
            JSON.parse(
              frame
                .of(3)
                .subarray(frame.of(3)[1] === 126 ? 4 : 2)
                .toString(),
            ),
          )
          return true
        },
      }
      presence.subscribe(subscriber)
      const [ada, bob] = [clientOf('ada'), clientOf('bob')]
      presence.enter(ada, true)
      presence.enter(bob, true)
      expect(sent).toEqual([])
      vi.advanceTimersByTime(15)
      expect(sent).toEqual([['ada', 'bob']])
      for (let n = 0; n < 100; n++) presence.markActive(ada)
      presence.set(bob, { status: 'online', data: undefined })
      vi.advanceTimersByTime(15)
      expect(sent).toHaveLength(1)
      presence.leave(bob)
      presence.set(ada, { status: 'away', data: undefined })
      vi.advanceTimersByTime(15)
      expect(frames.at(-1)).toMatchObject({
        type: 'presence',
        ref: 3,
        users: [{ userId: 'ada', onlineStatus: 'away' }],
        left: ['bob'],
      })
      presence.unsubscribe(subscriber)
      presence.leave(ada)
      vi.advanceTimersByTime(15)
      expect(sent).toHaveLength(2)
    } finally {
      vi.useRealTimers()
    }
  })
})
