import { beforeEach, describe, expect, test } from 'vitest'
import { stopTime } from '../../../test/support/clock.ts'
import { Scheduler } from './scheduler.ts'

/** Lets time pass, which holds the event loop. */
let beBusy: (ms: number) => void
beforeEach(async () => {
  beBusy = await stopTime()
})

const owner = { apiKey: 'key', userId: 'ada' }

describe('a scheduler', () => {
  test('[S2] a scheduler runs the steps of a generator in order, over several iterations of the event loop', async () => {
    const scheduler = new Scheduler()
    const done: number[] = []
    function* steps() {
      for (let step = 0; step < 20; step++) {
        beBusy(3)
        done.push(step)
        yield
      }
    }
    scheduler.scheduleSteps(owner, steps(), (error) => expect.unreachable(String(error)))
    // A slice of 2 ms has room for one step.
    expect(done).toEqual([0])
    await scheduler.idle()
    expect(done).toEqual(Array.from({ length: 20 }, (_, step) => step))
  })

  test('[R8] an error in a step ends its generator and is reported, and other tasks continue', async () => {
    const scheduler = new Scheduler()
    const error = new Error('broken')
    const errors: unknown[] = []
    let hasContinued = false
    function* steps() {
      beBusy(10)
      yield
      throw error
    }
    scheduler.scheduleSteps(owner, steps(), (reported) => errors.push(reported))
    const other = scheduler.scheduleOnce(owner, () => void (hasContinued = true))
    expect([errors, hasContinued]).toEqual([[], false])
    await other
    await scheduler.idle()
    expect([errors, hasContinued]).toEqual([[error], true])
  })

  test('[S2] scheduleOnce runs work at once while there is time, and rejects with the error of the work', async () => {
    const scheduler = new Scheduler()
    let hasRun = false
    const first = scheduler.scheduleOnce(owner, () => void (hasRun = true))
    expect(hasRun).toBe(true)
    await first
    await expect(
      scheduler.scheduleOnce(owner, () => {
        throw new Error('broken')
      }),
    ).rejects.toThrow('broken')
  })
})
