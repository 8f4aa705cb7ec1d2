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
  const wait = (abandoned?: AbortSignal, apiKey = 'key', hasRead = false) =>
    newEvents.wait(apiKey, { transactionId: 0, eventId: 1 }, { ms: 20_000, hasRead, abandoned })
  const tell = () =>
    bus.publish({ kind: 'threads', apiKey: 'key', organizationId: 'o', documentId: 'd', seq: 1 })
  const record = () => void eventId++
  const step = async (ms: number) => {
    clock.step(ms)
    await Promise.resolve()
  }
  return { clock, bus, newEvents, wait, tell, record, step, looks: () => looks }
}

test('[27.1.10] all readers of an API key share one look at the log a second, and end when there is something new', async () => {
  const { clock, wait, record, step, looks } = scene()
  const readers = Array.from({ length: 100 }, () => wait())
  for (let second = 0; second < 3; second++) await step(1_000)
  expect(looks()).toBe(3)
  record()
  await step(1_000)
  expect(new Set(await Promise.all(readers))).toEqual(new Set(['new']))
  expect(clock.pending).toBe(0)
})

test('[27.1.10] after a message of the bus, the log is looked at at once and twice more', async () => {
  const { tell, wait, record, step, looks } = scene()
  const reader = wait()
  tell()
  await step(20)
  expect(looks()).toBe(1)
  record()
  await step(100)
  expect(await reader).toBe('new')
})

test('[27.1.10] waiting ends after its time, with its caller and with the server, and one more reader than allowed is refused', async () => {
  const { clock, newEvents, wait, step } = scene()
  const caller = new AbortController()
  const gone = wait(caller.signal)
  caller.abort()
  expect(await gone).toBe('ended')
  const readers = Array.from({ length: 100 }, () => wait())
  expect(() => wait()).toThrow('At most 100 readers of an API key wait for events.')
  const other = wait(undefined, 'other')
  for (let second = 0; second < 20; second++) await step(1_000)
  expect(new Set(await Promise.all([...readers, other]))).toEqual(new Set(['late']))
  const stopped = wait()
  newEvents.close()
  expect([await stopped, await wait()]).toEqual(['ended', 'ended'])
  expect(clock.pending).toBe(0)
})

test('[27.1.10] messages that follow each other quickly put no look off', async () => {
  const { tell, wait, record, step } = scene()
  const reader = wait()
  record()
  for (let passed = 0; passed < 30; passed += 5) {
    tell()
    await step(5)
  }
  expect(await reader).toBe('new')
})

test('[27.1.10] a reader for whom there was nothing is told again after half a second at the earliest', async () => {
  const { tell, wait, record, step } = scene()
  record()
  let isTold = false
  const reader = wait(undefined, 'key', true).finally(() => (isTold = true))
  for (let passed = 0; passed < 480; passed += 20) {
    tell()
    await step(20)
  }
  expect(isTold).toBe(false)
  tell()
  await step(20)
  expect(await reader).toBe('new')
})

test('[27.1.10] waiting ends when the auth token is reset, and a server has a limited number of readers', async () => {
  const { bus, wait } = scene()
  const readers = Array.from({ length: 2_000 }, (_, index) => wait(undefined, `key ${index % 100}`))
  expect(() => wait()).toThrow('Too many readers wait for events.')
  for (let key = 0; key < 100; key++) bus.publish({ kind: 'credentials', apiKey: `key ${key}` })
  expect(new Set(await Promise.all(readers))).toEqual(new Set(['ended']))
})
