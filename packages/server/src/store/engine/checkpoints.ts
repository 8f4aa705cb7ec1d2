import { Worker } from 'node:worker_threads'

interface Progress {
  frames: number
  left: number
}

export interface CheckpointParts {
  file: string
  /** How many pages the log holds now. Called by the writer after its commit. */
  logFrames: () => number
  /** Runs the work while nobody writes. */
  withoutWriters: (work: () => Promise<void>) => Promise<void>
  /** Ends the snapshots of readers. While a reader keeps one from before the copy, the log cannot restart. */
  leaveSnapshots: () => void
  onFailure?: (error: unknown) => void
}

/** A log of this many pages (16 MiB) is copied at once, and then restarts from its beginning. */
const longLogFrames = 4096
/** Writers wait for the copy when the log has this many pages (32 MiB). */
const maxLogFrames = 2 * longLogFrames
/** How often the length of the log is measured at most: to ask SQLite for it takes a tenth of a small write. */
const measuredEveryMs = 20
/** A reader that begins at the same moment as a copy can keep it from being complete: about once in 150 times. */
const maxTries = 3
/** How often a shorter log is copied, and a log that could not restart is tried again. */
const intervalMs = 2000

/** Runs checkpoints on a thread of their own, while there are commits to copy. A thread that died is replaced. */
export class Checkpoints {
  readonly #parts: CheckpointParts
  readonly #timer: NodeJS.Timeout
  #worker: Worker | undefined
  #running: Promise<void> | undefined
  #copying: Promise<unknown> = Promise.resolve()
  #frames = 0
  #measuredAt = -Infinity
  #dirty = false
  /** The last copy failed, or a reader outside of this process keeps the log from restarting. */
  #isStuck = false
  #closed = false

  constructor(parts: CheckpointParts) {
    this.#parts = parts
    this.#timer = setInterval(() => void this.run(), intervalMs).unref()
  }

  /** Called by the writer whose turn it is, after its commit. */
  committed(): void {
    this.#dirty = true
    this.#measure()
    if (this.#frames >= longLogFrames && !this.#isStuck) void this.run()
  }

  #measure(): void {
    const now = performance.now()
    if (now - this.#measuredAt < measuredEveryMs) return
    this.#measuredAt = now
    try {
      this.#frames = this.#parts.logFrames()
    } catch (error) {
      // The commit stands, whatever happens here.
      this.#failed(error)
    }
  }

  /** Called by the writer whose turn it is. What it gets back, if anything, it waits for before it writes. */
  beforeWrite(): Promise<void> | undefined {
    if (this.#frames < maxLogFrames || this.#isStuck || this.#closed) return undefined
    return this.#restart().catch((error: unknown) => this.#failed(error))
  }

  /** Copies what there is to copy; a failure is reported, and tried again later. */
  run(): Promise<void> {
    if (!this.#dirty || this.#closed) return this.#running ?? Promise.resolve()
    return (this.#running ??= this.#copy()
      .catch((error: unknown) => this.#failed(error))
      .finally(() => {
        this.#running = undefined
      }))
  }

  async close(): Promise<void> {
    this.#closed = true
    clearInterval(this.#timer)
    await this.#running
    await this.#copying
    const worker = this.#worker
    if (!worker) return
    const ended = new Promise((resolve) => worker.once('exit', resolve))
    worker.ref()
    worker.postMessage('stop')
    await ended
  }

  /** Most is copied beside the writers; the rest while they wait, so that nothing is left and the log can restart. */
  async #copy(): Promise<void> {
    this.#dirty = false
    const { frames, left } = await this.#ask()
    if (left === 0) this.#isStuck = false
    if (frames >= longLogFrames) await this.#parts.withoutWriters(() => this.#restart())
  }

  /** The next writer begins at the start of the log. Nobody may write meanwhile. */
  async #restart(): Promise<void> {
    let left = 1
    for (let tries = 0; left > 0 && tries < maxTries; tries++) {
      left = (await this.#ask()).left
      this.#parts.leaveSnapshots()
    }
    this.#isStuck = left > 0
    if (left > 0) this.#dirty = true
    else this.#frames = 0
  }

  #failed(error: unknown): void {
    this.#dirty = true
    this.#isStuck = true
    this.#parts.onFailure?.(error)
  }

  /** One after the other: the thread's answers do not say what they answer. */
  #ask(): Promise<Progress> {
    const asked = this.#copying.then(() => this.#askWorker())
    this.#copying = asked.catch(() => {})
    return asked
  }

  #askWorker(): Promise<Progress> {
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
      workerData: { file: this.#parts.file },
      execArgv: [],
    })
    worker.unref()
    worker.on('error', (error) => this.#parts.onFailure?.(error))
    worker.once('exit', () => {
      if (this.#worker === worker) this.#worker = undefined
    })
    return worker
  }
}
