import type { ServerMessage } from '@plenum/protocol/realtime'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { LivePresence } from './live-presence.ts'
import type { PresenceSubscriber } from './presence-broadcast.ts'
import type { Known } from './present-person.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const maxBytes = 16 * 1024
/** As much as a client may set, and different each time. */
const large = (number: number) => JSON.stringify({ number, text: 'x'.repeat(maxBytes - 40) })

interface Told {
  bytes: number
  users: string[]
}

/** Keeps what it is told. */
class Subscriber implements PresenceSubscriber {
  readonly told: Told[] = []

  presenceChanged(frames: { of(ref: number): Buffer }): boolean {
    const frame = frames.of(1)
    const { length } = frame
    const json = frame.subarray(length < 126 ? 2 : length < 65_540 ? 4 : 10).toString()
    const { users } = JSON.parse(json) as Extract<ServerMessage, { type: 'presence' }>
    this.told.push({ bytes: length, users: users.map(({ userId }) => userId) })
    return true
  }

  get bytes(): number {
    return this.told.reduce((sum, { bytes }) => sum + bytes, 0)
  }
}

/** With `run` one decides when a step is done; otherwise all of them are, at once. */
function scene(run?: (steps: Iterator<unknown>) => void) {
  const finish = (steps: Iterator<unknown>) => {
    while (!steps.next().done);
  }
  const presence = new LivePresence({
    now: Date.now,
    failed: (error) => expect(error).toBeUndefined(),
    read: async () => [],
    run: run ?? finish,
  })
  const enter = (userId: string, canWrite = false): Known => {
    const known = {
      identity: { userId, name: undefined, email: undefined, look: { color: '#364fc7' } },
      canWrite,
    }
    presence.enter(known, true)
    return known
  }
  const set = (known: Known, number: number) => presence.set(known, { status: 'online', data: large(number) })
  return { presence, enter, set }
}

describe('[R35] a broadcast of presence', () => {
  test('[R35] [S2] is sent in messages of bounded size, one message to one client a step', () => {
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
      const messages = subscribers.reduce((sum, { told }) => sum + told.length, 0)
      expect(messages - before).toBeLessThanOrEqual(1)
      before = messages
    }
    for (const { told } of subscribers) {
      expect(new Set(told.flatMap(({ users }) => users)).size).toBe(50)
      for (const { bytes } of told) expect(bytes).toBeLessThan(5 * maxBytes)
    }
  })

  test('[R35.1] lets somebody who may write go ahead of viewers who wait', () => {
    const jobs: Iterator<unknown>[] = []
    const { presence, enter, set } = scene((steps) => void jobs.push(steps))
    const subscriber = new Subscriber()
    presence.subscribe(subscriber)
    for (let user = 0; user < 100; user++) set(enter(`viewer${user}`), 1)
    vi.advanceTimersByTime(15)
    const [job] = jobs
    while (subscriber.told.length < 3) job?.next()
    set(enter('editor', true), 1)
    while (subscriber.told.length < 4) job?.next()
    expect(subscriber.told[3]?.users[0]).toBe('editor')
  })

  test('[R35.2] tells of one user no more than 32 KiB a second after a burst, and the newest in the end', () => {
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
    const told = subscriber.told.length
    vi.advanceTimersByTime(60_000)
    expect(subscriber.told.length).toBe(told)
  })

  test('[R35] tells of small changes as often as they come together', () => {
    const { presence, enter } = scene()
    const subscriber = new Subscriber()
    presence.subscribe(subscriber)
    const ada = enter('ada')
    for (let change = 0; change < 200; change++) {
      presence.set(ada, { status: undefined, data: `{"cursor":[${change},0]}` })
      vi.advanceTimersByTime(50)
    }
    expect(subscriber.told.length).toBeGreaterThanOrEqual(200)
  })

  test('[R35.2] sends no more than 32 MiB a second for all users and clients of a document together', () => {
    const { presence, enter, set } = scene()
    const subscribers = Array.from({ length: 200 }, () => new Subscriber())
    for (const subscriber of subscribers) presence.subscribe(subscriber)
    const people = Array.from({ length: 100 }, (_, user) => enter(`u${user}`))
    for (let second = 0; second < 5; second++) {
      for (const known of people) set(known, second)
      vi.advanceTimersByTime(1_000)
    }
    const bytes = subscribers.reduce((sum, subscriber) => sum + subscriber.bytes, 0)
    expect(bytes).toBeLessThan(6.6 * 32 * 1024 * 1024)
    expect(bytes).toBeGreaterThan(4 * 32 * 1024 * 1024)
  })

  test('[R35.3] tells at once that somebody has left, however much it sent before', () => {
    const { presence, enter, set } = scene()
    const subscriber = new Subscriber()
    presence.subscribe(subscriber)
    const eve = enter('eve')
    for (let change = 0; change < 100; change++) {
      set(eve, change)
      vi.advanceTimersByTime(15)
    }
    presence.leave(eve)
    const told = subscriber.told.length
    vi.advanceTimersByTime(15)
    expect(subscriber.told.slice(told)).toMatchObject([{ users: [] }])
    expect(presence.all().json).toBe('[]')
  })

  test('[R35.3] tells of a user who came and left between two messages to whom it was shown', () => {
    const { presence, enter } = scene()
    const ada = enter('ada')
    const subscriber = new Subscriber()
    expect(JSON.parse(presence.all().json)).toHaveLength(1)
    presence.subscribe(subscriber)
    presence.leave(ada)
    vi.advanceTimersByTime(15)
    expect(subscriber.told).toMatchObject([{ users: [] }])
  })
})
