import { setImmediate as nextLoop } from 'node:timers/promises'
import { beforeEach, describe, expect, test } from 'vitest'
import { stopTime } from '../../../test/support/clock.ts'
import { FairQueue } from './fair-queue.ts'
import { Scheduler } from './scheduler.ts'
import { WorkQueue, type WorkQueueOwner } from './work-queue.ts'

/** Lets time pass, which holds the event loop. */
let beBusy: (ms: number) => void
beforeEach(async () => {
  beBusy = await stopTime()
})

const times = (count: number) => Array.from({ length: count }, (_, i) => i)

/** Queues of clients that share one event loop, and the order in which their work ran. */
function scene() {
  const scheduler = new Scheduler()
  const done: string[] = []
  function client(userId: string, options: WorkQueueOwner = {}, apiKey = 'key') {
    let held = 0
    const host = { scheduler, owner: { apiKey, userId }, hold: () => void held++, release: () => void held-- }
    const queue = new WorkQueue(host, options)
    const work = (name: string, ms = 0) => {
      beBusy(ms)
      done.push(name)
    }
    return {
      queue,
      run: (name: string, ms?: number) => queue.runOrQueue(() => work(name, ms)),
      push: (name: string, ms?: number) => queue.push(() => work(name, ms)),
      isHeld: () => held === 1,
      isFree: () => held === 0,
    }
  }
  return { scheduler, done, client }
}

describe('a work queue', () => {
  test('[S2] a work queue runs work at once while nothing waits and the event loop has time', () => {
    const { client, done } = scene()
    const ada = client('ada')
    ada.run('first')
    expect(done).toEqual(['first'])
    expect(ada.isFree()).toBe(true)
  })

  test('[S2] [S8] long work runs in order over several iterations of the event loop', async () => {
    const { client, done, scheduler } = scene()
    const ada = client('ada')
    for (const i of times(30)) ada.run(`${i}`, 1)
    expect(done.length).toBeLessThan(20)
    expect(ada.isHeld()).toBe(true)
    const before = done.length
    await nextLoop()
    expect(done.length).toBeLessThan(before + 20)
    await scheduler.idle()
    expect(done).toEqual(times(30).map(String))
    expect(ada.isFree()).toBe(true)
  })

  test('[S1] [S8.1] a client with little work does not wait behind the backlog of others', async () => {
    const { client, done, scheduler } = scene()
    const loud = times(10).map((i) => client(`loud ${i}`))
    for (const one of loud) for (const i of times(10)) one.run(`loud ${i}`, 1)
    const [quiet, elsewhere] = [client('quiet'), client('loud 1', {}, 'another key')]
    quiet.run('quiet')
    elsewhere.run('elsewhere')
    await scheduler.idle()
    expect(done).toHaveLength(102)
    // The scheduler runs work for 8 ms at first. Then the clients that have used the least time get slices of 2 ms.
    expect(done.indexOf('quiet')).toBeLessThan(50)
    expect(done.indexOf('elsewhere')).toBeLessThan(20)
  })

  test('[R9] a work queue stops while mayRun returns false, and continues where it stopped', async () => {
    const { client, done, scheduler } = scene()
    let mayRun = false
    let blocked = 0
    const ada = client('ada', { mayRun: () => mayRun, onBlocked: () => void blocked++ })
    for (const i of times(3)) ada.push(`${i}`)
    ada.queue.start()
    await scheduler.idle()
    expect([done, blocked, ada.isHeld()]).toEqual([[], 1, true])
    mayRun = true
    ada.queue.start()
    await scheduler.idle()
    expect([done, blocked, ada.isFree()]).toEqual([['0', '1', '2'], 1, true])
  })

  test('[R8] a work queue continues after an error, and drops all waiting work on clear', async () => {
    const { client, done, scheduler } = scene()
    const errors: unknown[] = []
    const ada = client('ada', { onError: (error) => errors.push(error) })
    ada.queue.push(() => {
      throw new Error('malformed')
    })
    ada.push('after')
    ada.queue.push(() => ada.queue.clear())
    ada.push('cleared')
    ada.queue.start()
    await scheduler.idle()
    expect(done).toEqual(['after'])
    expect(errors).toHaveLength(1)
    expect(ada.isFree()).toBe(true)
    ada.queue.clear()
    expect(ada.isFree()).toBe(true)
  })

  test('[S2] work that is added by other work runs after the work that waits already', async () => {
    const { client, done, scheduler } = scene()
    const ada = client('ada')
    ada.queue.push(() => ada.run('added'))
    ada.push('waiting')
    ada.queue.start()
    await scheduler.idle()
    expect(done).toEqual(['waiting', 'added'])
    expect(ada.isFree()).toBe(true)
  })
})

describe('a fair queue', () => {
  test('[S8.1] a fair queue serves the tenant, then the user, that has spent the least time', () => {
    let now = 0
    const queue = new FairQueue<string>(() => now)
    const owners = { a: 'k1/u1', b: 'k1/u1', c: 'k1/u2', d: 'k2/u1', e: 'k2/u1', f: 'k2/u1' }
    for (const [item, owner] of Object.entries(owners)) {
      const [apiKey = '', userId = ''] = owner.split('/')
      queue.add(item, { apiKey, userId })
    }
    const order: string[] = []
    while (queue.size > 0) {
      queue.takeNext((item) => {
        order.push(item)
        now += item === 'a' ? 5 : 1
      })
    }
    // The second user of the first tenant comes before the second item of its first user.
    expect(order.join('')).toBe('adefcb')
  })

  test('[S8.1] a fair queue holds each item once, and not after it was deleted', () => {
    const queue = new FairQueue<string>()
    const owner = { apiKey: 'k1', userId: 'u1' }
    for (const item of ['a', 'b', 'a']) queue.add(item, owner)
    queue.delete('b')
    expect(queue.size).toBe(1)
    let isAgain = true
    const order: string[] = []
    while (queue.size > 0) {
      queue.takeNext((item) => {
        order.push(item)
        if (isAgain) queue.add(item, owner)
        isAgain = false
      })
    }
    expect(order).toEqual(['a', 'a'])
  })
})
