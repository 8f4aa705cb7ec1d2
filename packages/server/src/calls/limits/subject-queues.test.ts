import { expect, test } from 'vitest'
import { SubjectQueues } from './subject-queues.ts'

/** Runs calls that wait while the first one runs. Returns what ran, in order: the items of each run. */
async function runWaiting(
  calls: readonly { item: string; bytes?: number; isAlone?: boolean }[],
  runTogether = async (items: readonly string[]): Promise<readonly string[] | undefined> =>
    items.map((item) => `${item} of ${items.length}`),
) {
  const queues = new SubjectQueues()
  const runs: string[] = []
  let release = () => {}
  const held = new Promise<void>((resolve) => (release = resolve))
  const together = async (items: readonly string[]) => {
    runs.push(items.join(' '))
    return runTogether(items)
  }
  const run = async (item: string) => {
    runs.push(item)
    if (item === 'first') await held
    if (item === 'bad') throw new Error('bad')
    return item
  }
  const all = [{ item: 'first', bytes: 1, isAlone: true }, ...calls].map(({ item, bytes = 1, isAlone }) =>
    queues
      .run('lane', 'subject', { item, bytes, run, runTogether: isAlone ? undefined : together })
      .catch((error: unknown) => String(error)),
  )
  release()
  const [, ...results] = await Promise.all(all)
  return { runs: runs.slice(1), results }
}

test('[S4.2] calls that wait for the same subject run together, in their order, and each gets its result', async () => {
  expect(await runWaiting([{ item: 'a' }, { item: 'b' }, { item: 'c' }])).toEqual({
    runs: ['a b c'],
    results: ['a of 3', 'b of 3', 'c of 3'],
  })
})

test('[S4.2] calls run in their order if one between them must run alone, and large calls run alone', async () => {
  const calls = [
    { item: 'a' },
    { item: 'b', isAlone: true },
    { item: 'c' },
    { item: 'd' },
    { item: 'large', bytes: 1024 * 1024 },
    { item: 'e' },
  ]
  expect((await runWaiting(calls)).runs).toEqual(['a', 'b', 'c d', 'large', 'e'])
  const many = Array.from({ length: 40 }, (_, i) => ({ item: `${i}` }))
  expect((await runWaiting(many)).runs.map((one) => one.split(' ').length)).toEqual([32, 8])
})

test('[S4.2] calls that cannot run together run alone, so that a bad one does not affect the others', async () => {
  expect(await runWaiting([{ item: 'a' }, { item: 'bad' }, { item: 'c' }], async () => undefined)).toEqual({
    runs: ['a bad c', 'a', 'bad', 'c'],
    results: ['a', 'Error: bad', 'c'],
  })
})

test('[S4.2] if calls fail together, all of them fail, and none runs again', async () => {
  const failing = () => Promise.reject(new Error('away'))
  const { runs, results } = await runWaiting([{ item: 'a' }, { item: 'b' }], failing)
  expect({ runs, results }).toEqual({ runs: ['a b'], results: ['Error: away', 'Error: away'] })
})
