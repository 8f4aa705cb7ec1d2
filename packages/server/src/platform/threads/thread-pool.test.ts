import { Worker } from 'node:worker_threads'
import { afterEach, describe, expect, test } from 'vitest'
import { SteppedClock } from '../../../test/support/clock.ts'
import { LaneFull, type PoolOptions, ThreadPool, ThreadsBusy, type Work } from './thread-pool.ts'

/** A task reports that it started, and ends when the test sends its name. */
const source = `
  import { BroadcastChannel, parentPort, threadId } from 'node:worker_threads'
  parentPort.on('message', ({ name, channel }) => {
    const signal = new BroadcastChannel(channel)
    signal.onmessage = ({ data }) => {
      if (data !== name) return
      signal.close()
      parentPort.postMessage({ name, threadId })
    }
    signal.postMessage('began ' + name)
  })
`
const url = new URL(`data:text/javascript,${encodeURIComponent(source)}`)
const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  await Promise.all(closing.splice(0).map((close) => close()))
})

interface Starting {
  /** Delays the start of the n-th worker. */
  canStart?: (n: number) => Promise<unknown>
}

function start({ canStart = async () => {}, ...options }: PoolOptions & Starting = {}) {
  const workers: Worker[] = []
  const clock = new SteppedClock()
  const pool = new ThreadPool(
    async () => {
      const worker = new Worker(url, { execArgv: [] })
      workers.push(worker)
      await canStart(workers.length)
      return worker
    },
    { quickThreads: 3, maxQuickPerLane: 2, clock, ...options },
  )
  const name = `threads ${Math.random()}`
  const signal = new BroadcastChannel(name)
  const began: string[] = []
  signal.addEventListener('message', ({ data }: MessageEvent) => {
    const [, task] = /^began (.*)$/.exec(String(data)) ?? []
    if (task !== undefined) began.push(task)
  })
  closing.push(async () => {
    signal.close()
    await pool.close()
  })
  /** `a1`: work of lane `a`. */
  const run = async (task: string, work: Partial<Work> & { limitMs?: number } = {}) => {
    const { limitMs = 30_000, ...rest } = work
    const message = () => ({ value: { name: task, channel: name }, transfer: [], limitMs })
    const answer = await pool.run({ lane: task[0]!, content: task, bytes: 1, message, ...rest })
    return (answer as { name: string }).name
  }
  /** Waits until these tasks have started, in this order. A task that started over is listed again. */
  const beginning = (...tasks: string[]) =>
    expect.poll(() => began, { timeout: 30_000, interval: 5 }).toEqual(tasks)
  return { pool, clock, run, began, beginning, end: (task: string) => signal.postMessage(task), workers }
}

describe('[V5] a thread pool', () => {
  test('[V5] the pool runs work side by side, and keeps two spare threads', async () => {
    const { run, beginning, end, workers } = start()
    expect(workers).toHaveLength(0)
    const first = run('a1')
    await beginning('a1')
    end('a1')
    expect(await first).toBe('a1')
    const second = run('a2')
    await beginning('a1', 'a2')
    expect(workers).toHaveLength(3)
    const third = run('a3')
    await beginning('a1', 'a2', 'a3')
    expect(workers).toHaveLength(4)
    end('a3')
    end('a2')
    expect(await Promise.all([second, third])).toEqual(['a2', 'a3'])
  })

  test('[V5] work starts on the first thread that is ready', async () => {
    let startOthers = () => {}
    const later = new Promise<void>((resolve) => (startOthers = resolve))
    const canStart = (count: number) => (count > 1 ? later : Promise.resolve())
    const { run, beginning, end, workers } = start({ canStart })
    const first = run('a1')
    await beginning('a1')
    // The spare threads are still starting.
    expect(workers).toHaveLength(3)
    const second = run('b1')
    end('a1')
    await beginning('a1', 'b1')
    end('b1')
    expect(await Promise.all([first, second])).toEqual(['a1', 'b1'])
    startOthers()
  })

  test('[V5] if threads cannot start, waiting work fails, and the next work tries to start them again', async () => {
    const canStart = (count: number) =>
      count === 1 ? Promise.reject(new Error('no memory')) : Promise.resolve()
    const { run, beginning, end } = start({ canStart })
    await expect(run('a1')).rejects.toThrow('no memory')
    const second = run('a2')
    await beginning('a2')
    end('a2')
    expect(await second).toBe('a2')
  })

  test('[S3] one lane never has all threads, and lanes take turns', async () => {
    const { run, beginning, end } = start()
    const tasks = [run('a1')]
    await beginning('a1')
    tasks.push(...['a2', 'a3', 'a4'].map((task) => run(task)))
    await beginning('a1', 'a2')
    tasks.push(run('b1'))
    await beginning('a1', 'a2', 'b1')
    tasks.push(run('b2'), run('c1'))
    end('a1')
    // Lane `c` has had no turn yet. The last turn of lane `a` was before that of lane `b`.
    await beginning('a1', 'a2', 'b1', 'c1')
    end('a2')
    await beginning('a1', 'a2', 'b1', 'c1', 'a3')
    end('b1')
    await beginning('a1', 'a2', 'b1', 'c1', 'a3', 'b2')
    end('c1')
    await beginning('a1', 'a2', 'b1', 'c1', 'a3', 'b2', 'a4')
    for (const task of ['a3', 'b2', 'a4']) end(task)
    await Promise.all(tasks)
  })

  test('[S3] a lane that sends one job after the other does not overtake a waiting lane', async () => {
    const { run, beginning, end } = start({ quickThreads: 1, maxQuickPerLane: 1 })
    const tasks = [run('a1')]
    await beginning('a1')
    tasks.push(run('b1'))
    end('a1')
    await beginning('a1', 'b1')
    tasks.push(run('c1'), run('c2'))
    end('b1')
    await beginning('a1', 'b1', 'c1')
    // Lanes `a` and `b` had their last turns before lane `c`.
    tasks.push(run('b2'), run('a2'))
    end('c1')
    await beginning('a1', 'b1', 'c1', 'a2')
    end('a2')
    await beginning('a1', 'b1', 'c1', 'a2', 'b2')
    tasks.push(run('a3'))
    end('b2')
    await beginning('a1', 'b1', 'c1', 'a2', 'b2', 'c2')
    end('c2')
    await beginning('a1', 'b1', 'c1', 'a2', 'b2', 'c2', 'a3')
    end('a3')
    await Promise.all(tasks)
  })

  test('[S3] slow work is stopped when another lane needs its thread, and starts over when a slow thread is free', async () => {
    const { clock, run, beginning, end } = start({
      slowAfterMs: 100,
      quickThreads: 1,
      slowThreads: 1,
      maxQuickPerLane: 1,
    })
    const slow = run('a1')
    await beginning('a1')
    const overdue = run('a2')
    // After 100 ms `a1` is slow work and its thread counts as the slow one, so a quick thread can start `a2`.
    clock.step(100)
    await beginning('a1', 'a2')
    clock.step(100)
    const quick = run('b1')
    await beginning('a1', 'a2', 'b1')
    end('a1')
    expect(await slow).toBe('a1')
    await beginning('a1', 'a2', 'b1', 'a2')
    end('b1')
    end('a2')
    expect(await Promise.all([overdue, quick])).toEqual(['a2', 'b1'])
  })

  test('[S3.2] after work ran into its time limit, work on the same content is refused for a minute', async () => {
    const { clock, run, beginning, end } = start({ quickThreads: 1 })
    const content = 'the same'
    const [first, second] = [run('a1', { content, limitMs: 10 }), run('a2', { content })]
    const failing = [
      expect(first).rejects.toThrow('longer than 10 ms'),
      expect(second).rejects.toThrow('took too long. Try again in 60 s'),
    ]
    await beginning('a1')
    clock.step(10)
    await Promise.all(failing)
    const other = run('a3', { content: 'another one' })
    await beginning('a1', 'a3')
    end('a3')
    await other
    clock.step(59_999)
    await expect(run('a4', { content })).rejects.toThrow('took too long. Try again in 1 s')
    clock.step(1)
    const last = run('a5', { content })
    await beginning('a1', 'a3', 'a5')
    end('a5')
    expect(await last).toBe('a5')
  })

  test('[V5] background work starts only when one quick thread stays free for other work', async () => {
    const { run, beginning, end } = start({ quickThreads: 2 })
    const first = run('a1')
    await beginning('a1')
    const others = [run('b1'), run('c1', { isBackground: true })]
    await beginning('a1', 'b1')
    end('a1')
    end('b1')
    await beginning('a1', 'b1', 'c1')
    end('c1')
    await Promise.all([first, ...others])
  })

  test('[V5] the work in progress of a lane is limited in number and bytes', async () => {
    const { run, beginning, end } = start({ maxJobsPerLane: 2, maxBytesPerLane: 100 })
    const first = run('a1', { bytes: 1_000 })
    await beginning('a1')
    await expect(run('a2')).rejects.toThrow(LaneFull)
    const others = [run('b1', { bytes: 40 })]
    await beginning('a1', 'b1')
    others.push(run('b2', { bytes: 40 }))
    await expect(run('b3')).rejects.toThrow(LaneFull)
    await beginning('a1', 'b1', 'b2')
    for (const task of ['a1', 'b1', 'b2']) end(task)
    await Promise.all([first, ...others])
    const last = run('a4')
    await beginning('a1', 'b1', 'b2', 'a4')
    end('a4')
    expect(await last).toBe('a4')
  })

  test('[V5] work waits for a thread no longer than its waitMs', async () => {
    const { clock, run, beginning, end } = start({ quickThreads: 1 })
    const first = run('a1')
    await beginning('a1')
    const second = run('b1')
    const busy = new ThreadsBusy('No thread had time within 20 ms.')
    const third = run('c1', { waitMs: 20 })
    clock.step(19)
    const fourth = run('c2', { waitMs: 20 })
    clock.step(1)
    await expect(third).rejects.toThrow(busy)
    end('a1')
    await beginning('a1', 'b1')
    end('b1')
    await beginning('a1', 'b1', 'c2')
    end('c2')
    expect(await Promise.all([first, second, fourth])).toEqual(['a1', 'b1', 'c2'])
  })

  test('[V5] a closed pool fails the work in progress, the waiting work and new work', async () => {
    const { pool, run, beginning } = start({ quickThreads: 1 })
    const failing = Promise.allSettled([run('a1'), run('b1')])
    await beginning('a1')
    await pool.close()
    const reasons = (await failing).map((one) => (one as PromiseRejectedResult).reason as Error)
    expect(reasons.map(({ message }) => message)).toEqual(['The thread ended.', 'The threads are closed.'])
    await expect(run('c1')).rejects.toThrow('The threads are closed.')
  })
})
