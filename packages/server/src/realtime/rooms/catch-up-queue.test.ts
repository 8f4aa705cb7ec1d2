import { expect, test, vi } from 'vitest'
import { CatchUpQueue } from './catch-up-queue.ts'
import type { Member } from './member.ts'

const update = Uint8Array.of(1)
const member = (userId: string) => ({ userId }) as Member
const [ada, bob] = [member('ada'), member('bob')]

/** A queue whose reads end when the test says so. */
function createQueue() {
  const log: string[] = []
  const reads: { userId: string; end: (newRows: number) => void }[] = []
  let seq = 0
  let rebuilding: Promise<void> | undefined
  const queue = new CatchUpQueue({
    catchUp: (userId) =>
      new Promise((resolve) => {
        const end = (newRows: number) => {
          seq += newRows
          resolve()
        }
        reads.push({ userId, end })
      }),
    rowCount: () => seq,
    rebuilding: () => rebuilding,
    mayContinue: () => true,
    onBegun() {},
    onError: (error) => log.push(String(error)),
  })
  const note = (text: string) => () => void log.push(text)
  /** Work waits until the returned function is called. */
  const rebuild = () => {
    let end = () => {}
    rebuilding = new Promise((resolve) => {
      end = () => {
        rebuilding = undefined
        resolve()
      }
    })
    return end
  }
  return { queue, log, reads, note, rebuild }
}

test('[B2.2] work runs after a read that began after it was added', async () => {
  const { queue, log, reads, note } = createQueue()
  queue.add(update, ada, note('first'))
  queue.add(update, bob, note('second'))
  expect(reads.map(({ userId }) => userId)).toEqual(['ada'])
  reads[0]?.end(0)
  await vi.waitFor(() => expect(log).toEqual(['first']))
  expect(reads).toHaveLength(2)
  expect(queue.bytes).toBe(65)
  reads[1]?.end(0)
  await vi.waitFor(() => expect(log).toEqual(['first', 'second']))
  expect(queue.bytes).toBe(0)
})

test('[B2.2] later updates of a sender wait for an earlier one, and those of others do not', async () => {
  const { queue, log, reads, note } = createQueue()
  // The first and the third update must wait again, so those after them do too.
  queue.add(update, ada, () => queue.add(update, ada, note('first')))
  expect(queue.follow(update, ada, note('second'))).toBe(true)
  expect(queue.follow(update, ada, () => queue.add(update, ada, note('third')))).toBe(true)
  expect(queue.follow(update, ada, note('fourth'))).toBe(true)
  expect(queue.follow(update, bob, note('other'))).toBe(false)
  reads[0]?.end(0)
  await vi.waitFor(() => expect(reads).toHaveLength(2))
  expect(queue.follow(update, ada, note('fifth'))).toBe(true)
  reads[1]?.end(0)
  await vi.waitFor(() => expect(reads).toHaveLength(3))
  expect(log).toEqual(['first', 'second'])
  reads[2]?.end(0)
  await vi.waitFor(() => expect(log).toEqual(['first', 'second', 'third', 'fourth', 'fifth']))
  expect(queue.follow(update, ada, note('sixth'))).toBe(false)
  expect(queue.bytes).toBe(0)
})

test('[B2.2] the more reads are in vain, the longer suspects wait, unless another update needs a read', async () => {
  vi.useFakeTimers()
  try {
    const { queue, log, reads, note } = createQueue()
    const expectReadAfter = async (ms: number) => {
      const before = reads.length
      queue.addSuspect(update, ada, note(`${ms}`))
      await vi.advanceTimersByTimeAsync(Math.max(0, ms - 1))
      expect(reads).toHaveLength(ms === 0 ? before + 1 : before)
      await vi.advanceTimersByTimeAsync(1)
      expect(reads).toHaveLength(before + 1)
      reads.at(-1)?.end(0)
      await vi.advanceTimersByTimeAsync(0)
      expect(log.at(-1)).toBe(`${ms}`)
    }
    for (const ms of [0, 10, 20, 40, 80, 160, 320, 640, 1_000, 1_000]) await expectReadAfter(ms)
    queue.addSuspect(update, ada, note('suspect'))
    await vi.advanceTimersByTimeAsync(100)
    queue.add(update, bob, note('claim'))
    await vi.advanceTimersByTimeAsync(0)
    reads.at(-1)?.end(0)
    await vi.advanceTimersByTimeAsync(0)
    expect(log.slice(-2)).toEqual(['suspect', 'claim'])
    // A second without a read in vain ends the pauses.
    await vi.advanceTimersByTimeAsync(3_000)
    await expectReadAfter(0)
    await expectReadAfter(10)
  } finally {
    vi.useRealTimers()
  }
})

test('[B2.2] work that follows an update knows whether the read began after it was added', async () => {
  const { queue, log, reads } = createQueue()
  const noteWhether = (name: string) => (isCurrent: boolean) => void log.push(`${name} ${isCurrent}`)
  queue.add(update, ada, () => {})
  queue.follow(update, ada, noteWhether('during the read'))
  queue.add(update, bob, () => {})
  queue.follow(update, bob, noteWhether('before the read'))
  reads[0]?.end(0)
  await vi.waitFor(() => expect(reads).toHaveLength(2))
  reads[1]?.end(0)
  await vi.waitFor(() => expect(log).toEqual(['during the read false', 'before the read true']))
})

test('[B2.2] [R32.3] work waits while the index is rebuilt', async () => {
  const { queue, log, reads, note, rebuild } = createQueue()
  queue.add(update, ada, note('first'))
  const end = rebuild()
  reads[0]?.end(0)
  expect(queue.follow(update, ada, note('second'))).toBe(true)
  await new Promise((resolve) => setImmediate(resolve))
  expect(log).toEqual([])
  end()
  await vi.waitFor(() => expect(log).toEqual(['first', 'second']))
})

test('[B2.2] what work throws is reported, and the queue goes on', async () => {
  const { queue, log, reads, note } = createQueue()
  queue.add(update, ada, () => {
    throw new Error('broken')
  })
  reads[0]?.end(0)
  await vi.waitFor(() => expect(log).toEqual(['Error: broken']))
  queue.add(update, ada, note('next'))
  reads[1]?.end(0)
  await vi.waitFor(() => expect(log).toEqual(['Error: broken', 'next']))
})
