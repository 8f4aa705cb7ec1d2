import { setImmediate } from 'node:timers/promises'
import { beforeEach, describe, expect, test } from 'vitest'
import { freeIteration } from '../../../test/support/measures/event-loop.ts'
import { LongReads } from './long-reads.ts'

beforeEach(freeIteration)

describe('long reads', () => {
  test('[S2] [S5.2] at most one slice of all long reads runs in each iteration of the event loop', async () => {
    const reads = new LongReads()
    let iteration = 0
    let isOver = false
    const iterations: number[] = []
    const count = (async () => {
      for (; !isOver; iteration++) await setImmediate()
    })()
    const one = async () => {
      const read = reads.open('key')
      for (let slice = 0; slice < 5; slice++) {
        await read.nextSlice()
        iterations.push(iteration)
      }
      read.close()
    }
    await Promise.all(Array.from({ length: 10 }, one))
    isOver = true
    await count
    expect(iterations).toHaveLength(50)
    expect(new Set(iterations).size).toBe(50)
  })

  test('[S1] [9.2.3] an API key has at most two large answers open, and other API keys do not wait for it', async () => {
    const reads = new LongReads({ maxLargePerKey: 2 })
    const started: string[] = []
    const begin = async (key: string, name: string) => {
      const read = reads.open(key)
      await read.becomeLarge()
      started.push(name)
      return read
    }
    const [a1, a2, a3, a4, b1] = ['a1', 'a2', 'a3', 'a4', 'b1'].map((name) => begin(name.charAt(0), name))
    const first = await a1!
    await Promise.all([a2, b1])
    // The API keys take turns.
    expect(started).toEqual(['a1', 'b1', 'a2'])
    first.close()
    const third = await a3!
    expect(started).toEqual(['a1', 'b1', 'a2', 'a3'])
    // Ending a read twice frees one place.
    first.close()
    await setImmediate()
    expect(started).toHaveLength(4)
    third.close()
    await a4
  })

  test('[S2] a slice of a long read is over after sliceMs, and not before', async () => {
    expect(new LongReads({ sliceMs: 60_000 }).open('key').isSliceOver).toBe(false)
    expect(new LongReads({ sliceMs: 0 }).open('key').isSliceOver).toBe(true)
  })
})
