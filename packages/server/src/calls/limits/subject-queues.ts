import { setImmediate as nextIteration } from 'node:timers/promises'
import { ApiError } from '@plenum/protocol'
import { LaneQuota } from '../../platform/lane-quota.ts'
import { yieldIfLate } from '../../platform/turns/loop-time.ts'

/** The calls that one caller may have running or waiting: each holds its body in memory. */
const maxPerCaller = { maxJobs: 100, maxBytes: 64 * 1024 * 1024 }
/** Calls that run together. A larger one runs alone. */
const maxTogether = { calls: 32, bytes: 256 * 1024 }

/** A call, and how it runs. */
export interface QueuedCall<Item, T> {
  item: Item
  bytes: number
  run: (item: Item) => Promise<T>
  /**
   * Runs calls that waited together, in their order. Only calls with the same function can. If it resolves with undefined, each
   * call runs alone. Undefined: the call always runs alone.
   */
  runTogether?: ((items: readonly Item[]) => Promise<readonly T[] | undefined>) | undefined
}

interface Waiting extends QueuedCall<unknown, unknown> {
  resolve: (result: never) => void
  reject: (error: unknown) => void
}

/**
 * Runs the calls of a caller that write the same subject, such as an editor, one after the other. Those that wait meanwhile may
 * run together.
 */
export class SubjectQueues {
  readonly #quota = new LaneQuota(maxPerCaller)
  /** The calls that wait for each subject that a call writes. */
  readonly #subjects = new Map<string, Waiting[]>()

  async run<Item, T>(lane: string, subject: string, call: QueuedCall<Item, T>): Promise<T> {
    if (!this.#quota.add(lane, call.bytes)) throw tooManyCalls()
    try {
      return await this.#enqueue(JSON.stringify([lane, subject]), call)
    } finally {
      this.#quota.remove(lane, call.bytes)
    }
  }

  #enqueue<Item, T>(name: string, call: QueuedCall<Item, T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const waiting = { ...call, resolve, reject } as unknown as Waiting
      const queue = this.#subjects.get(name)
      if (queue) queue.push(waiting)
      else void this.#runAll(name, [waiting])
    })
  }

  async #runAll(name: string, queue: Waiting[]): Promise<void> {
    this.#subjects.set(name, queue)
    // Calls that were answered together are often followed by the next ones together.
    await nextIteration()
    while (queue.length > 0) {
      await runNext(queue.splice(0, countTogether(queue)))
      await yieldIfLate()
    }
    this.#subjects.delete(name)
  }
}

/** How many of the first calls run together. */
function countTogether(queue: readonly Waiting[]): number {
  const [first] = queue as [Waiting, ...Waiting[]]
  let count = 0
  let bytes = 0
  for (const call of queue.slice(0, maxTogether.calls)) {
    bytes += call.bytes
    if (call.runTogether !== first.runTogether || bytes > maxTogether.bytes) break
    count++
  }
  return first.runTogether ? Math.max(1, count) : 1
}

async function runNext(calls: readonly Waiting[]): Promise<void> {
  const runTogether = calls.length > 1 ? calls[0]?.runTogether : undefined
  try {
    const results = await runTogether?.(calls.map(({ item }) => item))
    for (const [index, { item, run, resolve, reject }] of calls.entries()) {
      if (results) resolve(results[index] as never)
      else await run(item).then(resolve as never, reject)
    }
  } catch (error) {
    for (const { reject } of calls) reject(error)
  }
}

const tooManyCalls = () =>
  new ApiError('RESOURCE_EXHAUSTED', 'Too many writes of CRDT data are in progress for this API key.', {
    retryAfterSeconds: 1,
  })
