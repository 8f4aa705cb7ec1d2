import { setImmediate as nextIteration } from 'node:timers/promises'
import { beforeEach, describe, expect, test } from 'vitest'
import { stopTime } from '../../../test/support/clock.ts'
import { freeIteration } from '../../../test/support/measures/event-loop.ts'
import { Limiter, LaneLimiters } from './limiter.ts'

beforeEach(freeIteration)

/** Work that lasts until the test ends it, and the order in which it started. */
function scene(run: (lane: string, work: () => Promise<void>) => Promise<void>) {
  const ends = new Map<string, () => void>()
  const started: string[] = []
  /** `a1`: work of lane `a`. */
  const start = (name: string, { fails = false } = {}) => {
    const work = () => {
      started.push(name)
      return new Promise<void>((resolve, reject) =>
        ends.set(name, fails ? () => reject(new Error('no')) : resolve),
      )
    }
    return run(name.charAt(0), work).catch(() => {})
  }
  const end = async (name: string) => {
    ends.get(name)?.()
    await nextIteration()
  }
  return { start, end, started }
}

describe('a limiter', () => {
  test('[R16.5] a limiter runs two pieces of work at a time, takes lanes in turn, and continues after failures', async () => {
    const limiter = new Limiter(2)
    const { start, end, started } = scene((lane, work) => limiter.run(lane, work))
    for (const name of ['a1', 'a2', 'a3', 'a4', 'a5']) void start(name, { fails: name === 'a2' })
    for (const name of ['b1', 'b2']) void start(name)
    expect(started).toEqual(['a1', 'a2'])
    for (const name of ['a2', 'a1', 'a3', 'b1', 'a4', 'b2', 'a5']) await end(name)
    expect(started).toEqual(['a1', 'a2', 'a3', 'b1', 'a4', 'b2', 'a5'])
    await Promise.all([start('c1'), start('c2'), end('c1'), end('c2')])
    expect(started.slice(-2)).toEqual(['c1', 'c2'])
  })

  test('[R16.5] in a limiter, the sub-lanes of a lane take turns', async () => {
    const limiter = new Limiter(1)
    const started: string[] = []
    const run = (lane: string, subLane: string, name: string) =>
      limiter.run(lane, async () => void started.push(name), subLane)
    await Promise.all([
      run('a', 'x', 'ax1'),
      run('a', 'x', 'ax2'),
      run('a', 'x', 'ax3'),
      run('a', 'y', 'ay1'),
      run('b', 'x', 'bx1'),
    ])
    expect(started).toEqual(['ax1', 'ax2', 'bx1', 'ay1', 'ax3'])
  })

  test('[S2] in a limiter, waiting work starts in later iterations of the event loop, at most one in each', async () => {
    const limiter = new Limiter(1)
    let done = 0
    const all = Promise.all(Array.from({ length: 5 }, () => limiter.run('a', async () => void done++)))
    for (let iteration = 1; iteration <= 5; iteration++) {
      expect(done).toBeLessThanOrEqual(iteration)
      await nextIteration()
    }
    await all
    expect(done).toBe(5)
  })

  test('[S2] with startsAtOnce, a limiter runs short work in one iteration and long work in several', async () => {
    const limiter = new Limiter(1, { startsAtOnce: true })
    const pass = await stopTime()
    /** How many iterations of the event loop run this work, of which each takes so long. */
    const iterationsOf = async (ms: number) => {
      let iteration = 0
      let isOver = false
      const counting = (async () => {
        for (; !isOver; iteration++) await nextIteration()
      })()
      const found = new Set<number>()
      const work = async () => {
        pass(ms)
        found.add(iteration)
      }
      await nextIteration()
      await Promise.all(Array.from({ length: 4 }, () => limiter.run('a', work)))
      isOver = true
      await counting
      return found.size
    }
    expect(await iterationsOf(0)).toBe(1)
    // The first work ends before the limiter looks at the time.
    expect(await iterationsOf(9)).toBeGreaterThanOrEqual(3)
  })

  test('[R16.5] a place of a limiter is free after its release, and a second release frees no other place', async () => {
    const limiter = new Limiter(1)
    const release = await limiter.enter('a')
    let entered = 0
    const others = [limiter.enter('a'), limiter.enter('b')].map(async (entering) => {
      const leave = await entering
      entered++
      return leave
    })
    await nextIteration()
    expect(entered).toBe(0)
    release()
    release()
    await nextIteration()
    await nextIteration()
    expect(entered).toBe(1)
    ;(await others[0])?.()
    await others[1]
  })
})

describe('lane limiters', () => {
  test('[S1] lane limiters run one piece of work of each lane at a time, in order, and continue after failures', async () => {
    const limiters = new LaneLimiters(1)
    const { start, end, started } = scene((lane, work) => limiters.run(lane, work))
    for (const name of ['a1', 'a2', 'b1', 'a3', 'b2']) void start(name, { fails: name === 'a1' })
    expect(started).toEqual(['a1', 'b1'])
    await end('a1')
    await expect.poll(() => started).toEqual(['a1', 'b1', 'a2'])
    await end('b1')
    await expect.poll(() => started).toEqual(['a1', 'b1', 'a2', 'b2'])
    await end('a2')
    await expect.poll(() => started).toEqual(['a1', 'b1', 'a2', 'b2', 'a3'])
    await end('a3')
    void start('a4')
    expect(started.at(-1)).toBe('a4')
  })

  test('[S1] in lane limiters, entering one lane does not wait for another', async () => {
    const limiters = new LaneLimiters(1)
    const release = await limiters.enter('a')
    const second = limiters.enter('a')
    await limiters.enter('b')
    release()
    await second
  })
})
