import { readdirSync } from 'node:fs'
import { getPriority } from 'node:os'
import { Worker } from 'node:worker_threads'
import { afterEach, describe, expect, test } from 'vitest'
import { SteppedClock } from '../../../test/support/clock.ts'
import { Thread, ThreadTimeout } from './thread.ts'
import { startWorker } from './worker.ts'

const source = `
  import { parentPort, threadId } from 'node:worker_threads'
  parentPort.on('message', ({ what, buffer }) => {
    if (what === 'exit') process.exit(0)
    if (what === 'throw') throw new Error('out of order')
    if (what === 'hang') for (;;);
    if (what === 'hoard') for (const all = []; ; ) all.push(Array(1000).fill(all.length))
    parentPort.postMessage({ what, threadId, size: buffer?.byteLength })
  })
`
const url = new URL(`data:text/javascript,${encodeURIComponent(source)}`)
const threads: Thread[] = []
afterEach(async () => {
  await Promise.all(threads.splice(0).map((thread) => thread.close()))
})

function start() {
  let started = 0
  const clock = new SteppedClock()
  const thread = new Thread(() => {
    started++
    return new Worker(url, { execArgv: [], resourceLimits: { maxOldGenerationSizeMb: 32 } })
  }, clock)
  threads.push(thread)
  const ask = (what: string, limitMs = 30_000) =>
    thread.ask(() => ({ value: { what }, transfer: [], limitMs })) as Promise<{
      what: string
      threadId: number
    }>
  return { thread, clock, ask, started: () => started }
}

describe('[V5] a thread', () => {
  test('[V5] a thread starts with the first message and answers in order', async () => {
    const { ask, started } = start()
    expect(started()).toBe(0)
    const answers = await Promise.all(['a', 'b', 'c'].map((what) => ask(what)))
    expect(answers.map(({ what }) => what)).toEqual(['a', 'b', 'c'])
    expect(new Set(answers.map(({ threadId }) => threadId)).size).toBe(1)
    expect(started()).toBe(1)
  })

  test('[V5] a buffer is transferred to the thread when the turn of its message comes', async () => {
    const { thread } = start()
    const { buffer } = new Uint8Array(1_000)
    const answer = thread.ask(() => ({
      value: { what: 'size', buffer },
      transfer: [buffer],
      limitMs: 30_000,
    }))
    expect(buffer.byteLength).toBe(1_000)
    expect(await answer).toMatchObject({ size: 1_000 })
    expect(buffer.byteLength).toBe(0)
  })

  test.each([
    ['exit', new Error('The thread ended.')],
    ['throw', new Error('The thread failed.')],
    ['hoard', new Error('The thread failed.')],
    ['hang', new ThreadTimeout('The thread took longer than 500 ms.')],
  ])(
    '[V5] a thread that dies (%s) fails one message, and the next ones go to a new worker',
    async (what, reason) => {
      const { clock, ask, started } = start()
      const before = await ask('before')
      const failed = ask(what, what === 'hang' ? 500 : undefined)
      const after = ask('after')
      if (what === 'hang') {
        await expect.poll(() => clock.pending).toBe(1)
        clock.step(500)
      }
      await expect(failed).rejects.toThrow(reason)
      expect((await after).threadId).not.toBe(before.threadId)
      expect(started()).toBe(2)
    },
  )

  test('[V5] a worker that dies while it is idle is replaced', async () => {
    const workers: Worker[] = []
    const thread = new Thread(() => {
      const worker = new Worker(url, { execArgv: [] })
      workers.push(worker)
      return worker
    })
    threads.push(thread)
    const ask = () => thread.ask(() => ({ value: { what: 'x' }, transfer: [], limitMs: 30_000 }))
    await ask()
    await workers[0]?.terminate()
    await ask()
    expect(workers).toHaveLength(2)
  })

  test('[V5] a message that cannot be built or sent fails, and the next one is answered', async () => {
    const { thread, ask } = start()
    const wrong = thread.ask(() => {
      throw new Error('no message')
    })
    const notSent = thread.ask(() => ({ value: () => {}, transfer: [], limitMs: 30_000 }))
    await expect(wrong).rejects.toThrow('no message')
    await expect(notSent).rejects.toThrow('could not be cloned')
    expect(await ask('after')).toMatchObject({ what: 'after' })
  })

  test.skipIf(process.platform !== 'linux')(
    '[S3] the worked time of a thread is processor time, not the time that it waits',
    async () => {
      const thread = new Thread(() =>
        startWorker('resting-worker', new URL('../../../test/support/faults/x.ts', import.meta.url).href),
      )
      threads.push(thread)
      await thread.start()
      let workedMs = 0
      const ask = async (value: object) => {
        const asked = thread.ask(() => ({ value, transfer: [], limitMs: 30_000 }))
        const sampling = setInterval(() => (workedMs = thread.workedMs()), 5)
        await asked
        clearInterval(sampling)
        return workedMs
      }
      expect(await ask({ restMs: 400 })).toBeLessThan(200)
      expect(await ask({ workMs: 400 })).toBeGreaterThan(200)
    },
  )

  test.skipIf(process.platform !== 'linux')(
    '[V5] the time limit of a thread is processor time, so that a busy machine does not fail its work',
    async () => {
      const thread = new Thread(() =>
        startWorker('resting-worker', new URL('../../../test/support/faults/x.ts', import.meta.url).href),
      )
      threads.push(thread)
      const ask = (value: object) => thread.ask(() => ({ value, transfer: [], limitMs: 300 }))
      await ask({ restMs: 600 })
      await expect(ask({ workMs: 30_000 })).rejects.toThrow(ThreadTimeout)
      // Whatever holds it up, a message gets an answer in the end.
      await expect(ask({ restMs: 30_000 })).rejects.toThrow(ThreadTimeout)
    },
  )

  test.skipIf(process.platform !== 'linux')(
    '[S3.1] a thread has a lower priority than the event loop, and lowerPriority lowers it further',
    async () => {
      const osThreads = () => readdirSync('/proc/self/task').map(Number)
      const before = new Set(osThreads())
      const thread = new Thread(() =>
        startWorker('resting-worker', new URL('../../../test/support/faults/x.ts', import.meta.url).href),
      )
      threads.push(thread)
      await thread.start()
      const eventLoop = getPriority(process.pid)
      const highestNiceness = () =>
        Math.max(...osThreads().flatMap((id) => (before.has(id) ? [] : [getPriority(id)])))
      expect(highestNiceness() - eventLoop).toBe(5)
      const stopped = expect(
        thread.ask(() => ({ value: { restMs: 30_000 }, transfer: [], limitMs: 30_000 })),
      ).rejects.toThrow('stopped')
      await new Promise((resolve) => setImmediate(resolve))
      thread.lowerPriority()
      expect(highestNiceness() - eventLoop).toBe(15)
      thread.stop()
      await stopped
    },
  )

  test('[V5] a closed thread fails the message in progress, the waiting ones and new ones', async () => {
    const { thread, ask } = start()
    await ask('before')
    const underWay = expect(ask('hang')).rejects.toThrow('The thread ended.')
    const waiting = expect(ask('after')).rejects.toThrow('closed')
    await new Promise((resolve) => setImmediate(resolve))
    await thread.close()
    await Promise.all([underWay, waiting])
    await expect(ask('later')).rejects.toThrow('closed')
  })
})
