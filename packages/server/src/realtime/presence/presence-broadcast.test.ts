import type { ServerMessage } from '@plenum/protocol/realtime'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { LivePresence } from './live-presence.ts'
import type { PresenceSubscriber } from './presence-broadcast.ts'
import type { IdentityHolder } from './present-person.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const maxBytes = 16 * 1024
/** Data of the maximal size, different for each number. */
const large = (number: number) => JSON.stringify({ number, text: 'x'.repeat(maxBytes - 40) })

interface SentMessage {
  bytes: number
  users: string[]
}

/** A subscriber that records the messages that it gets. */
class Subscriber implements PresenceSubscriber {
  readonly messages: SentMessage[] = []

  onPresenceChanged(frames: { of(ref: number): Buffer }): boolean {
    const frame = frames.of(1)
    const { length } = frame
    const json = frame.subarray(length < 126 ? 2 : length < 65_540 ? 4 : 10).toString()
    const { users } = JSON.parse(json) as Extract<ServerMessage, { type: 'presence' }>
    this.messages.push({ bytes: length, users: users.map(({ userId }) => userId) })
    return true
  }

  get bytes(): number {
    return this.messages.reduce((sum, { bytes }) => sum + bytes, 0)
  }
}

/** A presence list. With `run`, a test decides when a step runs. Default: all steps run immediately. */
function scene(run?: (steps: Iterator<unknown>) => void) {
  const runAll = (steps: Iterator<unknown>) => {
    while (!steps.next().done);
  }
  const presence = new LivePresence({
    now: Date.now,
    onError: (error) => expect(error).toBeUndefined(),
    read: async () => [],
    run: run ?? runAll,
  })
  const enter = (userId: string, hasWriteRole = false): IdentityHolder => {
    const client = {
      identity: { userId, name: undefined, email: undefined, look: { color: '#364fc7' } },
      hasWriteRole,
    }
    presence.enter(client, true)
    return client
  }
  const set = (client: IdentityHolder, number: number) =>
    presence.set(client, { status: 'online', data: large(number) })
  return { presence, enter, set }
}

describe('[R35] presence broadcast', () => {
  test('[R35] [S2] a broadcast sends messages of bounded size, and each step sends at most one message to one client', () => {
    const jobs: Iterator<unknown>[] = []
    const { presence, enter, set } = scene((steps) => void jobs.push(steps))
    const subscribers = Array.from({ length: 20 }, () => new Subscriber())
    for (const subscriber of subscribers) presence.subscribe(subscriber)
    for (let user = 0; user < 50; user++) set(enter(`u${user}`), 1)
    vi.advanceTimersByTime(15)
    const [job] = jobs
    let before = 0
    for (let isDone = false; !isDone;) {
      isDone = job?.next().done ?? true
      const count = subscribers.reduce((sum, { messages }) => sum + messages.length, 0)
      expect(count - before).toBeLessThanOrEqual(1)
      before = count
    }
    for (const { messages } of subscribers) {
      expect(new Set(messages.flatMap(({ users }) => users)).size).toBe(50)
      for (const { bytes } of messages) expect(bytes).toBeLessThan(5 * maxBytes)
    }
  })

  test('[R35.1] the entry of a user who may write is broadcast before the entries of viewers that wait', () => {
    const jobs: Iterator<unknown>[] = []
    const { presence, enter, set } = scene((steps) => void jobs.push(steps))
    const subscriber = new Subscriber()
    presence.subscribe(subscriber)
    for (let user = 0; user < 100; user++) set(enter(`viewer${user}`), 1)
    vi.advanceTimersByTime(15)
    const [job] = jobs
    while (subscriber.messages.length < 3) job?.next()
    set(enter('editor', true), 1)
    while (subscriber.messages.length < 4) job?.next()
    expect(subscriber.messages[3]?.users[0]).toBe('editor')
  })

  test('[R35.2] the changes of one user are broadcast with at most 32 KiB a second after a burst, and broadcasting stops after the newest change', () => {
    const { presence, enter, set } = scene()
    const subscriber = new Subscriber()
    presence.subscribe(subscriber)
    const eve = enter('eve')
    for (let change = 0; change < 1_000; change++) {
      set(eve, change)
      vi.advanceTimersByTime(10)
    }
    expect(subscriber.bytes).toBeLessThan(12.5 * 32 * 1024)
    expect(subscriber.bytes).toBeGreaterThan(9 * 32 * 1024)
    vi.advanceTimersByTime(1_000)
    expect(JSON.parse(presence.all().json)).toMatchObject([{ data: { number: 999 } }])
    const sent = subscriber.messages.length
    vi.advanceTimersByTime(60_000)
    expect(subscriber.messages.length).toBe(sent)
  })

  test('[R35] small changes are broadcast as often as they happen', () => {
    const { presence, enter } = scene()
    const subscriber = new Subscriber()
    presence.subscribe(subscriber)
    const ada = enter('ada')
    for (let change = 0; change < 200; change++) {
      presence.set(ada, { status: undefined, data: `{"cursor":[${change},0]}` })
      vi.advanceTimersByTime(50)
    }
    expect(subscriber.messages.length).toBeGreaterThanOrEqual(200)
  })

  test('[R35.2] a document broadcasts at most 32 MiB a second for all users and clients together', () => {
    const { presence, enter, set } = scene()
    const subscribers = Array.from({ length: 200 }, () => new Subscriber())
    for (const subscriber of subscribers) presence.subscribe(subscriber)
    const people = Array.from({ length: 100 }, (_, user) => enter(`u${user}`))
    for (let second = 0; second < 5; second++) {
      for (const client of people) set(client, second)
      vi.advanceTimersByTime(1_000)
    }
    const bytes = subscribers.reduce((sum, subscriber) => sum + subscriber.bytes, 0)
    expect(bytes).toBeLessThan(6.6 * 32 * 1024 * 1024)
    expect(bytes).toBeGreaterThan(4 * 32 * 1024 * 1024)
  })

  test('[R35.3] the leave of a user is broadcast immediately, however much the user sent before', () => {
    const { presence, enter, set } = scene()
    const subscriber = new Subscriber()
    presence.subscribe(subscriber)
    const eve = enter('eve')
    for (let change = 0; change < 100; change++) {
      set(eve, change)
      vi.advanceTimersByTime(15)
    }
    presence.leave(eve)
    const sent = subscriber.messages.length
    vi.advanceTimersByTime(15)
    expect(subscriber.messages.slice(sent)).toMatchObject([{ users: [] }])
    expect(presence.all().json).toBe('[]')
  })

  test('[R35.3] a subscriber that got a user in the list also gets the leave, even if the entry of the user was never broadcast', () => {
    const { presence, enter } = scene()
    const ada = enter('ada')
    const subscriber = new Subscriber()
    expect(JSON.parse(presence.all().json)).toHaveLength(1)
    presence.subscribe(subscriber)
    presence.leave(ada)
    vi.advanceTimersByTime(15)
    expect(subscriber.messages).toMatchObject([{ users: [] }])
  })
})
