import { Worker } from 'node:worker_threads'
import { afterEach, describe, expect, test } from 'vitest'
import { type Lane, Threads, ThreadsBusy } from './threads.ts'

/** Answers a number when it is told to by another message. */
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

function start(count: number) {
  const workers: Worker[] = []
  const threads = new Threads(() => {
    const worker = new Worker(url, { execArgv: [] })
    workers.push(worker)
    return worker
  }, count)
  const name = `threads ${Math.random()}`
  const signal = new BroadcastChannel(name)
  const began: string[] = []
  signal.addEventListener('message', ({ data }: MessageEvent) => {
    const [, task] = /^began (.*)$/.exec(String(data)) ?? []
    if (task !== undefined) began.push(task)
  })
  closing.push(async () => {
    signal.close()
    await threads.close()
  })
  const all = threads.lane({ atMost: count })
  const ask = async (task: string, lane: Lane = all) => {
    const message = () => ({ value: { name: task, channel: name }, transfer: [], limitMs: 30_000 })
    return ((await lane.ask(message)) as { name: string }).name
  }
  const underWay = (...tasks: string[]) =>
    expect.poll(() => [...began].sort(), { timeout: 30_000, interval: 5 }).toEqual(tasks)
  return { threads, ask, underWay, end: (task: string) => signal.postMessage(task), workers }
}

describe('[V5] threads', () => {
  test('[V5] work side by side and are started as they are needed', async () => {
    const { ask, underWay, end, workers } = start(3)
    expect(workers).toHaveLength(0)
    for (const task of ['a', 'b']) {
      const one = ask(task)
      await underWay(...['a', 'b'].slice(0, task === 'a' ? 1 : 2))
      end(task)
      expect(await one).toBe(task)
    }
    expect(workers).toHaveLength(1)
    const both = [ask('c'), ask('d')]
    await underWay('a', 'b', 'c', 'd')
    expect(workers).toHaveLength(2)
    for (const task of ['d', 'c']) end(task)
    expect(await Promise.all(both)).toEqual(['c', 'd'])
  })

  test('[V5] keep one for what is more urgent, which goes first', async () => {
    const { threads, ask, underWay, end } = start(2)
    const one = threads.lane({ atMost: 1 })
    const patient = ['a', 'b'].map((task) => ask(task, one))
    await underWay('a')
    const urgent = ask('urgent')
    await underWay('a', 'urgent')
    const next = ask('next')
    end('urgent')
    expect(await urgent).toBe('urgent')
    await underWay('a', 'next', 'urgent')
    for (const task of ['a', 'next']) end(task)
    expect(await next).toBe('next')
    await underWay('a', 'b', 'next', 'urgent')
    end('b')
    expect(await Promise.all(patient)).toEqual(['a', 'b'])
  })

  test('[V5] do not keep waiting longer than was said, and go on', async () => {
    const { threads, ask, underWay, end } = start(1)
    const hasty = threads.lane({ atMost: 1, waitMs: 20 })
    const first = ask('a')
    await underWay('a')
    const second = ask('b')
    await expect(ask('c', hasty)).rejects.toThrow(new ThreadsBusy('No thread had time within 20 ms.'))
    end('a')
    await underWay('a', 'b')
    end('b')
    expect(await Promise.all([first, second])).toEqual(['a', 'b'])
  })

  test('[V5] that are closed fail what is under way and what waits', async () => {
    const { threads, ask, underWay } = start(1)
    const failing = Promise.allSettled([ask('a'), ask('b')])
    await underWay('a')
    await threads.close()
    const reasons = (await failing).map((one) => (one as PromiseRejectedResult).reason as Error)
    expect(reasons.map(({ message }) => message)).toEqual(['The thread ended.', 'The thread is closed.'])
  })
})
