import { expect, test } from 'vitest'
import { SteppedClock } from '../../test/support/clock.ts'
import { createServerBus } from '../bus.ts'
import { NewEvents } from './new-events.ts'

function scene() {
  const clock = new SteppedClock()
  const bus = createServerBus({ error: (reason: unknown) => expect.unreachable(String(reason)) } as never)
  let eventId = 1
  let looks = 0
  const newEvents = new NewEvents({
    bus,
    clock,
    async findNewest() {
      looks++
      return { transactionId: 0, eventId }
    },
  })
  const wait = (signal?: AbortSignal, apiKey = 'key') =>
    newEvents.wait(apiKey, { transactionId: 0, eventId: 1 }, 20_000, signal)
  const record = () => void eventId++
  const step = async (ms: number) => {
    clock.step(ms)
    await Promise.resolve()
  }
  return { clock, bus, newEvents, wait, record, step, looks: () => looks }
}

test('[27.1.10] all readers of an API key share one look at the log a second, and end when there is something new', async () => {
  const { clock, wait, record, step, looks } = scene()
  const readers = Array.from({ length: 100 }, () => wait())
  for (let second = 0; second < 3; second++) await step(1_000)
  expect(looks()).toBe(3)
  record()
  await step(1_000)
  expect(new Set(await Promise.all(readers))).toEqual(new Set([true]))
  expect(clock.pending).toBe(0)
})

test('[27.1.10] after a message of the bus, the log is looked at at once and twice more', async () => {
  const { bus, wait, record, step, looks } = scene()
  const reader = wait()
  bus.publish({ kind: 'threads', apiKey: 'key', organizationId: 'o', documentId: 'd', seq: 1 })
  await step(20)
  expect(looks()).toBe(1)
  record()
  await step(100)
  expect(await reader).toBe(true)
})

test('[27.1.10] waiting ends after its time, with its caller and with the server, and one more reader than allowed is refused', async () => {
  const { clock, newEvents, wait, step } = scene()
  const caller = new AbortController()
  const gone = wait(caller.signal)
  caller.abort()
  expect(await gone).toBe(false)
  const readers = Array.from({ length: 100 }, () => wait())
  expect(() => wait()).toThrow('At most 100 readers of an API key wait for events.')
  const other = wait(undefined, 'other')
  for (let second = 0; second < 20; second++) await step(1_000)
  expect(new Set(await Promise.all([...readers, other]))).toEqual(new Set([false]))
  const stopped = wait()
  newEvents.close()
  expect([await stopped, await wait()]).toEqual([false, false])
  expect(clock.pending).toBe(0)
})
