import { Worker } from 'node:worker_threads'

interface Progress {
  frames: number
  left: number
}

/** The log restarts from its beginning once it is wholly copied; above this many pages (16 MiB) writers wait for that. */
const longLogFrames = 4096
const everyMs = 2000

/** Runs checkpoints on a thread of their own, while there are commits to copy. A thread that died is replaced. */
export class Checkpoints {
  readonly #file: string
  readonly #withoutWriters: <T>(work: () => Promise<T>) => Promise<T>
  readonly #onFailure: (error: unknown) => void
  readonly #timer: NodeJS.Timeout
  #worker: Worker | undefined
  #running: Promise<void> | undefined
  #dirty = false
  #closed = false

  constructor(
    file: string,
    withoutWriters: <T>(work: () => Promise<T>) => Promise<T>,
    onFailure: (error: unknown) => void = () => {},
  ) {
    this.#file = file
    this.#withoutWriters = withoutWriters
    this.#onFailure = onFailure
    this.#timer = setInterval(() => void this.run(), everyMs).unref()
  }

  /** Something was committed. */
  touch(): void {
    this.#dirty = true
  }

  /** Copies what there is to copy; a failure is told, and tried again with the next commits. */
  run(): Promise<void> {
    if (!this.#dirty || this.#closed) return this.#running ?? Promise.resolve()
    return (this.#running ??= this.#copy()
      .catch((error: unknown) => {
        this.#dirty = true
        this.#onFailure(error)
      })
      .finally(() => {
        this.#running = undefined
      }))
  }

  async close(): Promise<void> {
    this.#closed = true
    clearInterval(this.#timer)
    await this.#running
    const worker = this.#worker
    if (!worker) return
    const ended = new Promise((resolve) => worker.once('exit', resolve))
    worker.ref()
    worker.postMessage('stop')
    await ended
  }

  async #copy(): Promise<void> {
    this.#dirty = false
    const { frames, left } = await this.#ask()
    if (left > 0 && frames > longLogFrames) await this.#withoutWriters(() => this.#ask())
  }

  #ask(): Promise<Progress> {
    const worker = (this.#worker ??= this.#startWorker())
    return new Promise((resolve, reject) => {
      const onMessage = (message: Progress & { error?: string }) => {
        worker.off('exit', onExit)
        if (message.error === undefined) resolve(message)
        else reject(new Error(message.error))
      }
      const onExit = () => {
        worker.off('message', onMessage)
        reject(new Error('The thread of the checkpoints ended.'))
      }
      worker.once('message', onMessage).once('exit', onExit)
      worker.postMessage('copy')
    })
  }

  #startWorker(): Worker {
    const worker = new Worker(new URL('./checkpoint-worker.mjs', import.meta.url), {
      workerData: { file: this.#file },
      execArgv: [],
    })
    worker.unref()
    worker.on('error', this.#onFailure)
    worker.once('exit', () => {
      if (this.#worker === worker) this.#worker = undefined
    })
    return worker
  }
}
