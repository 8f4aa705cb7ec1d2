import { expect, test } from 'vitest'
import { Appender, type AppenderDeps } from './appender.ts'
import type { EditorRoom } from './room.ts'

/** An appender whose next tick has these many rooms with updates. */
function withRooms(count: number): Appender {
  const appender = new Appender({ now: () => 0, database: { exclusive: true } } as unknown as AppenderDeps)
  for (let index = 0; index < count; index++) {
    const room = {
      mustReview: false,
      nextWriter: { apiKey: 'k1', userId: `u${index}` },
      committed: { seq: 0 },
      takeBatch: () => ({ entry: undefined, updates: [] }),
      acknowledge() {},
    }
    appender.wake(room as unknown as EditorRoom)
  }
  return appender
}

test.each([
  { rooms: 1, ms: 12.5 },
  { rooms: 20, ms: 22 },
  { rooms: 200, ms: 30 },
])('[S1] after a tick with $rooms rooms, the next tick starts $ms ms later', ({ rooms, ms }) => {
  const appender = withRooms(rooms)
  expect(appender.takeItems()).toHaveLength(rooms)
  expect(appender.tickMs).toBe(ms)
})

test('[S1] rooms that did not fit into a tick do not wait longer than 12 ms for the next', () => {
  const appender = withRooms(250)
  expect(appender.takeItems().length).toBeLessThanOrEqual(200)
  expect(appender.hasWaiting()).toBe(true)
  expect(appender.tickMs).toBe(12)
})
