import type { Worker } from 'node:worker_threads'
import { type Message, Thread } from './thread.ts'

/** No thread had time for a message. */
export class ThreadsBusy extends Error {
  override name = 'ThreadsBusy'
}

export interface LaneOptions {
  /** So many of the threads at a time. */
  atMost: number
  /** How long a message may wait for one. */
  waitMs?: number
}

/** The way of messages of one kind to the threads, in their order. */
export interface Lane {
  /** The message is made when its turn has come and a thread is started. */
  ask(message: (waitedMs: number) => Message): Promise<unknown>
}

interface Queue {
  atMost: number
  busy: number
  waiting: ((thread: Thread) => void)[]
}

/** Threads side by side, each started when it is first needed. */
export class Threads {
  readonly #all: readonly Thread[]
  /** The last one was busy last: as few as possible are started. */
  readonly #free: Thread[]
  readonly #queues: Queue[] = []

  constructor(start: () => Worker | Promise<Worker>, count: number) {
    this.#all = Array.from({ length: count }, () => new Thread(start))
    this.#free = [...this.#all]
  }

  /** Lanes that are made first go first. */
  lane({ atMost, waitMs }: LaneOptions): Lane {
    const queue: Queue = { atMost, busy: 0, waiting: [] }
    this.#queues.push(queue)
    return {
      ask: async (message) => {
        const askedAt = performance.now()
        const thread = await this.#turn(queue, waitMs)
        const waitedMs = performance.now() - askedAt
        try {
          return await thread.ask(() => message(waitedMs))
        } finally {
          queue.busy--
          this.#free.push(thread)
          this.#startNext()
        }
      },
    }
  }

  /** What is under way fails, and so does what waits. */
  async close(): Promise<void> {
    await Promise.all(this.#all.map((thread) => thread.close()))
  }

  #turn({ waiting }: Queue, waitMs?: number): Promise<Thread> {
    return new Promise((resolve, reject) => {
      const giveUp = () => {
        waiting.splice(waiting.indexOf(begin), 1)
        reject(new ThreadsBusy(`No thread had time within ${waitMs} ms.`))
      }
      const timer = waitMs === undefined ? undefined : setTimeout(giveUp, waitMs)
      const begin = (thread: Thread) => {
        clearTimeout(timer)
        resolve(thread)
      }
      waiting.push(begin)
      this.#startNext()
    })
  }

  #startNext(): void {
    const queue = this.#queues.find(({ waiting, busy, atMost }) => waiting.length > 0 && busy < atMost)
    const thread = queue && this.#free.pop()
    if (!thread) return
    queue.busy++
    queue.waiting.shift()?.(thread)
  }
}
