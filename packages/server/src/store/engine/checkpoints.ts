import { Worker } from 'node:worker_threads'
import { type Clock, type StopTimer, systemClock } from '../../platform/clock.ts'

interface Progress {
  /** The pages that the log had when the thread copied it. */
  frames: number
  /** The pages that the thread could not copy. */
  left: number
}

export interface CheckpointDeps {
  file: string
  /** Counts the pages of the log. Called by the writer after its commit. */
  logFrames: () => number
  /** Runs the work while no transaction writes. */
  withoutWriters: (work: () => Promise<void>) => Promise<void>
  /** Ends the snapshots of readers. While a reader keeps a snapshot from before the copy, the log cannot restart. */
  leaveSnapshots: () => void
  onFailure?: (error: unknown) => void
  /** Default: the system's clock. */
  clock?: Clock
}

/** A log of this many pages (16 MiB) is copied immediately, and then restarts from its beginning. */
const longLogFrames = 4096
/** Writers wait for the copy when the log has this many pages (32 MiB). */
const maxLogFrames = 2 * longLogFrames
/** Two measurements of the log are this far apart: asking SQLite for its length takes a tenth of the time of a small write. */
const minMeasureIntervalMs = 20
/**
 * How many times a copy is tried: about once in 150 times, a reader that begins at the same moment keeps it from being
 * complete.
 */
const maxTries = 3
/** A log below `longLogFrames` is copied at this interval. So is a log that could not restart. */
const intervalMs = 2000

/** Runs checkpoints on a separate thread while there are commits to copy. A thread that died is replaced. */
export class Checkpoints {
  readonly #deps: CheckpointDeps
  readonly #clock: Clock
  readonly #stopTimer: StopTimer
  #worker: Worker | undefined
  #runInProgress: Promise<void> | undefined
  #lastCopy: Promise<unknown> = Promise.resolve()
  #frames = 0
  #measuredAt = -Infinity
  #hasUncopiedCommits = false
  /** Whether the last copy failed, or a reader outside of this process keeps the log from restarting. */
  #isStuck = false
  #isClosed = false

  constructor(deps: CheckpointDeps) {
    this.#deps = deps
    this.#clock = deps.clock ?? systemClock
    this.#stopTimer = this.#clock.setInterval(() => void this.run(), intervalMs)
  }

  /** The writer whose turn it is calls this after its commit. */
  committed(): void {
    this.#hasUncopiedCommits = true
    this.#measure()
    if (this.#frames >= longLogFrames && !this.#isStuck) void this.run()
  }

  #measure(): void {
    const now = this.#clock.elapsed()
    if (now - this.#measuredAt < minMeasureIntervalMs) return
    this.#measuredAt = now
    try {
      this.#frames = this.#deps.logFrames()
    } catch (error) {
      // The commit has succeeded, so its caller must not see this error.
      this.#onFailed(error)
    }
  }

  /** The writer whose turn it is calls this. If it returns a promise, the writer waits for it before it writes. */
  beforeWrite(): Promise<void> | undefined {
    if (this.#frames < maxLogFrames || this.#isStuck || this.#isClosed) return undefined
    return this.#restart().catch((error: unknown) => this.#onFailed(error))
  }

  /** Copies the commits that are not copied yet. A failure is reported and retried later. */
  run(): Promise<void> {
    if (!this.#hasUncopiedCommits || this.#isClosed) return this.#runInProgress ?? Promise.resolve()
    return (this.#runInProgress ??= this.#copy()
      .catch((error: unknown) => this.#onFailed(error))
      .finally(() => {
        this.#runInProgress = undefined
      }))
  }

  /** Copies everything and cuts the log to nothing, while no transaction writes. Throws if a reader prevents it. */
  async emptyLog(): Promise<void> {
    // Most pages are copied while transactions write.
    await this.#ask('copy')
    await this.#deps.withoutWriters(async () => {
      for (let tries = 0; tries < maxTries; tries++) {
        await this.#restart()
        if ((await this.#ask('empty')).left > 0) continue
        this.#frames = 0
        return
      }
      throw new Error('The log could not be emptied, because another process reads the database.')
    })
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#stopTimer()
    await this.#runInProgress
    await this.#lastCopy
    const worker = this.#worker
    if (!worker) return
    const ended = new Promise((resolve) => worker.once('exit', resolve))
    worker.ref()
    worker.postMessage('stop')
    await ended
  }

  /** Copies most pages while transactions write. Copies the rest of a long log while they wait, so that it can restart. */
  async #copy(): Promise<void> {
    this.#hasUncopiedCommits = false
    const { frames, left } = await this.#ask('copy')
    if (left === 0) this.#isStuck = false
    if (frames >= longLogFrames) await this.#deps.withoutWriters(() => this.#restart())
  }

  /** Makes the next writer begin at the start of the log. No transaction may write meanwhile. */
  async #restart(): Promise<void> {
    let left = 1
    for (let tries = 0; left > 0 && tries < maxTries; tries++) {
      left = (await this.#ask('copy')).left
      this.#deps.leaveSnapshots()
    }
    this.#isStuck = left > 0
    if (left > 0) this.#hasUncopiedCommits = true
    else this.#frames = 0
  }

  #onFailed(error: unknown): void {
    this.#hasUncopiedCommits = true
    this.#isStuck = true
    this.#deps.onFailure?.(error)
  }

  /** Sends one request at a time to the thread: its answers do not name the request that they answer. */
  #ask(request: 'copy' | 'empty'): Promise<Progress> {
    const progress = this.#lastCopy.then(() => this.#runOnWorker(request))
    this.#lastCopy = progress.catch(() => {})
    return progress
  }

  #runOnWorker(request: 'copy' | 'empty'): Promise<Progress> {
    const worker = (this.#worker ??= this.#startWorker())
    return new Promise((resolve, reject) => {
      const onMessage = (message: Progress & { error?: string }) => {
        worker.off('exit', onExit)
        if (message.error === undefined) resolve(message)
        else reject(new Error(message.error))
      }
      const onExit = () => {
        worker.off('message', onMessage)
        reject(new Error('The checkpoint thread ended before it answered.'))
      }
      worker.once('message', onMessage).once('exit', onExit)
      worker.postMessage(request)
    })
  }

  #startWorker(): Worker {
    const worker = new Worker(new URL('./checkpoint-worker.mjs', import.meta.url), {
      workerData: { file: this.#deps.file },
      execArgv: [],
    })
    worker.unref()
    worker.on('error', (error) => this.#deps.onFailure?.(error))
    worker.once('exit', () => {
      if (this.#worker === worker) this.#worker = undefined
    })
    return worker
  }
}
