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
      const read = reads.open({ apiKey: 'key' })
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
      const read = reads.open({ apiKey: key })
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

  test('[O6.1] a read whose answer nobody waits for ends at its next slice, query or place, and frees its place', async () => {
    const reads = new LongReads({ sliceMs: 60_000, maxLoaded: { perUser: 1, perKey: 1, perServer: 1 } })
    const reader = { apiKey: 'key', user: { userId: 'ada' } }
    const reason = new Error('Nobody waits.')
    const abandoned = new AbortController()
    const begin = () => reads.open(reader, abandoned.signal)
    const [first, second, third] = [begin(), begin(), begin()] as const
    expect(first.enter()).toBeUndefined()
    const waiting = second.enter()
    abandoned.abort(reason)
    let queries = 0
    await expect(first.query(async () => queries++)).rejects.toBe(reason)
    await expect(first.nextSlice()).rejects.toBe(reason)
    await expect(third.becomeLarge()).rejects.toBe(reason)
    third.close()
    first.close()
    await expect(waiting).rejects.toBe(reason)
    expect(queries).toBe(0)
    expect(reads.open(reader).enter()).toBeUndefined()
  })

  test('[S5.6] a user, an API key and a server have a number of places for rows each, and users take turns', async () => {
    const reads = new LongReads({ maxLoaded: { perUser: 2, perKey: 3, perServer: 4 } })
    const entered: string[] = []
    /** `a.ada.1`: a read of the user `ada` of the API key `a`. */
    const enter = async (name: string) => {
      const [apiKey = '', userId = ''] = name.split('.')
      const read = reads.open({ apiKey, user: { userId } })
      await read.enter()
      entered.push(name)
      return read
    }
    const ofA = ['a.ada.1', 'a.ada.2', 'a.ada.3', 'a.ada.4', 'a.bob.1', 'a.bob.2']
    const names = [...ofA, 'b.ada.1', 'c.ada.1', 'c.ada.2']
    const all = names.map((name) => enter(name))
    await setImmediate()
    // The server has four places. An API key that has none gets a fifth.
    expect(entered).toEqual(['a.ada.1', 'a.ada.2', 'a.bob.1', 'b.ada.1', 'c.ada.1'])
    const leave = async (index: number) => {
      const read = await all[index]!
      read.leave()
      // Leaving twice frees one place.
      read.leave()
      await setImmediate()
      return entered.slice(5)
    }
    expect(await leave(0)).toEqual([])
    // The API keys take turns, and so do the users of one.
    expect(await leave(1)).toEqual(['a.ada.3'])
    expect(await leave(2)).toEqual(['a.ada.3', 'c.ada.2'])
    expect(await leave(7)).toEqual(['a.ada.3', 'c.ada.2', 'a.bob.2'])
  })

  test('[S5.6] a read that waits for something else, or for other large answers, leaves its place for rows', async () => {
    const reads = new LongReads({ maxLargePerKey: 1, maxLoaded: { perUser: 1, perKey: 1, perServer: 1 } })
    const open = () => reads.open({ apiKey: 'key' })
    const [first, second, third] = [open(), open(), open()]
    await first.enter()
    let answer = () => {}
    const asking = first.outside(() => new Promise<void>((resolve) => (answer = resolve)))
    await second.enter()
    answer()
    second.leave()
    await asking
    await first.becomeLarge()
    await third.enter()
    const waiting = third.becomeLarge()
    await second.enter()
    first.close()
    await waiting
    expect(third.isLarge).toBe(true)
  })

  test('[9.2.3] a user has one large answer open, so that slow readers do not take all of an API key', async () => {
    const reads = new LongReads({ maxLargePerKey: 2 })
    const [first, second, other] = ['ada', 'ada', 'bob'].map((userId) =>
      reads.open({ apiKey: 'key', user: { userId } }),
    )
    await first!.becomeLarge()
    const waiting = second!.becomeLarge()
    await other!.becomeLarge()
    expect(second!.isLarge).toBe(false)
    first!.close()
    await waiting
  })

  test('[9.2.4] a large answer is refused while many of the same user wait', async () => {
    const maxWaitingLarge = { perUser: 1, perKey: 9, perServer: 9 }
    const reads = new LongReads({ maxLargePerKey: 1, maxWaitingLarge })
    const open = (userId: string) => reads.open({ apiKey: 'key', user: { userId } })
    const first = open('ada')
    await first.becomeLarge()
    const waiting = open('ada').becomeLarge()
    await expect(open('ada').becomeLarge()).rejects.toMatchObject({
      status: 'RESOURCE_EXHAUSTED',
      message: 'Too many large answers are waiting.',
    })
    const bob = open('bob')
    const other = bob.becomeLarge()
    first.close()
    await other
    bob.close()
    await waiting
  })

  test('[S2] a slice of a long read is over after sliceMs, and not before', async () => {
    expect(new LongReads({ sliceMs: 60_000 }).open({ apiKey: 'key' }).isSliceOver).toBe(false)
    expect(new LongReads({ sliceMs: 0 }).open({ apiKey: 'key' }).isSliceOver).toBe(true)
  })
})
