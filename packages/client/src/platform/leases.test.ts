import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { Leases } from './leases.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

function leaseScene() {
  const leases = new Leases<{ close(): void }>()
  const events: string[] = []
  const open = () => {
    events.push('open')
    return { close: () => void events.push('close') }
  }
  return { leases, events, take: () => leases.take('key', open) }
}

test('[K10] a leased value is opened for its first holder, and closed after its last holder has released it', () => {
  const { leases, events, take } = leaseScene()
  const releases = [take(), take()]
  expect(leases.peek('key')).toBeDefined()
  releases[0]?.()
  releases[0]?.()
  vi.runAllTimers()
  expect(events).toEqual(['open'])
  releases[1]?.()
  vi.runAllTimers()
  expect(events).toEqual(['open', 'close'])
  expect(leases.peek('key')).toBeUndefined()
})

test('[K10] a leased value is closed when it is done, unless it has been taken again', async () => {
  let finish = () => {}
  let isDone = false
  const leases = new Leases<{ close(): void }>(() =>
    isDone ? undefined : new Promise<void>((resolve) => (finish = resolve)),
  )
  const events: string[] = []
  const open = () => {
    events.push('open')
    return { close: () => void events.push('close') }
  }
  const take = () => leases.take('key', open, () => () => void events.push('released'))
  const turn = () => vi.advanceTimersByTimeAsync(0)
  const finishNow = async (done: boolean) => {
    isDone = done
    finish()
    await turn()
  }
  take()()
  await turn()
  await finishNow(false)
  expect(events).toEqual(['open'])
  const release = take()
  await finishNow(true)
  expect(events).toEqual(['open'])
  release()
  await turn()
  expect(events).toEqual(['open', 'close', 'released'])
})

test('[K10] a leased value that is released and taken again in the same task stays open', () => {
  const { events, take } = leaseScene()
  take()()
  const release = take()
  vi.runAllTimers()
  expect(events).toEqual(['open'])
  release()
  vi.runAllTimers()
  take()
  expect(events).toEqual(['open', 'close', 'open'])
})
