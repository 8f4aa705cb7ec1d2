import { Worker } from 'node:worker_threads'

interface Progress {
  frames: number
  left: number
}

/** The log restarts from its beginning once it is wholly copied; above this many pages (16 MiB) writers wait for that. */
const longLogFrames = 4096
const everyMs = 2000

/** Runs checkpoints on a thread of their own, while there are commits to copy. */
export class Checkpoints {
  readonly #worker: Worker
  readonly #withoutWriters: <T>(work: () => Promise<T>) => Promise<T>
  readonly #timer: NodeJS.Timeout
  #reply: ((progress: Progress) => void) | undefined
  #running: Promise<void> | undefined
  #dirty = false
  #closed = false

  constructor(file: string, withoutWriters: <T>(work: () => Promise<T>) => Promise<T>) {
    this.#withoutWriters = withoutWriters
    this.#worker = new Worker(new URL('./checkpoint-worker.mjs', import.meta.url), {
      workerData: { file },
      execArgv: [],
    })
    this.#worker.unref()
    this.#worker.on('message', (message: Progress & { error?: string }) => {
      this.#reply?.(message.error === undefined ? message : { frames: 0, left: 0 })
    })
    this.#worker.on('error', () => this.#reply?.({ frames: 0, left: 0 }))
    this.#timer = setInterval(() => void this.run(), everyMs).unref()
  }

  /** Something was committed. */
  touch(): void {
    this.#dirty = true
  }

  run(): Promise<void> {
    if (!this.#dirty || this.#closed) return this.#running ?? Promise.resolve()
    return (this.#running ??= this.#copy().finally(() => {
      this.#running = undefined
    }))
  }

  async close(): Promise<void> {
    this.#closed = true
    clearInterval(this.#timer)
    await this.#running
    const ended = new Promise((resolve) => this.#worker.once('exit', resolve))
    this.#worker.ref()
    this.#worker.postMessage('stop')
    await ended
  }

  async #copy(): Promise<void> {
    this.#dirty = false
    const { frames, left } = await this.#ask()
    if (left > 0 && frames > longLogFrames) await this.#withoutWriters(() => this.#ask())
  }

  #ask(): Promise<Progress> {
    return new Promise((resolve) => {
      this.#reply = resolve
      this.#worker.postMessage('copy')
    })
  }
}
