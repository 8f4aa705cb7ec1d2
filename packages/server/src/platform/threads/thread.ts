import type { Worker, TransferListItem } from 'node:worker_threads'
import { type Clock, systemClock } from '../clock.ts'
import { lowerPriority, processorMs } from './worker.ts'

/** A message to a thread, which is a piece of work. */
export interface Message {
  value: unknown
  transfer: TransferListItem[]
  /** If the work takes longer than this, its thread is terminated. Measured as `workedMs`. */
  limitMs: number
}

/** On a busy machine, work may take this many times its limit until it is ended. */
const maxWaitFactor = 4
const minCheckMs = 20

/** Thrown if a message took longer than its limit and its thread was terminated, or if the same work recently did so. */
export class ThreadTimeout extends Error {
  override name = 'TookTooLong'
}

/** Thrown if the thread was stopped before it answered. */
export class Stopped extends Error {
  override name = 'Stopped'
}

/**
 * Answers one message after the other in a worker thread. The worker starts with the first message, or when `start` is
 * called. If the worker dies, the message in progress fails, and the waiting messages go to a new worker.
 */
export class Thread {
  readonly #start: () => Worker | Promise<Worker>
  readonly #clock: Clock
  #worker: Promise<Worker> | undefined
  #last: Promise<unknown> = Promise.resolve()
  /** Fails the message in progress. */
  #fail: ((error: Error) => void) | undefined
  /** The worker, while it works on a message. */
  #busy: Worker | undefined
  #isReady = false
  /** How long the worker had worked in all when it received the message in progress. */
  #workedBefore = 0
  #hasLowPriority = false
  #isClosed = false

  constructor(start: () => Worker | Promise<Worker>, clock: Clock = systemClock) {
    this.#start = start
    this.#clock = clock
  }

  /** Sends a message and resolves with the answer. `message` is called when the turn of the message comes. */
  ask(message: () => Message): Promise<unknown> {
    const answer = this.#last.then(() => this.#ask(message))
    this.#last = answer.catch(() => {})
    return answer
  }

  /** Whether the worker runs or is starting. */
  get isStarted(): boolean {
    return this.#worker !== undefined
  }

  /** Whether the worker runs, so that a message does not wait for the start. */
  get isReady(): boolean {
    return this.#isReady
  }

  /** Starts the worker unless it runs already. Resolves when it is ready. */
  async start(): Promise<void> {
    if (this.#isClosed) throw new Error('The thread is closed.')
    this.#worker ??= this.#newWorker()
    await this.#worker
  }

  /**
   * How long the worker has worked on the message in progress. Measured in processor time if the kernel reports that, so
   * that a busy machine adds nothing.
   */
  workedMs(): number {
    return this.#busy ? this.#workedMsOf(this.#busy) - this.#workedBefore : 0
  }

  /** Aborts the message in progress, which fails with `Stopped`. */
  stop(): void {
    this.#fail?.(new Stopped('The thread was stopped.'))
  }

  /** Lowers the priority of the worker while the message in progress runs. The next message gets a new worker. */
  lowerPriority(): void {
    if (!this.#busy) return
    lowerPriority(this.#busy)
    this.#hasLowPriority = true
  }

  async close(): Promise<void> {
    this.#isClosed = true
    const worker = await this.#worker?.catch(() => undefined)
    await worker?.terminate()
  }

  async #ask(message: () => Message): Promise<unknown> {
    if (this.#isClosed) throw new Error('The thread is closed.')
    const starting = (this.#worker ??= this.#newWorker())
    const worker = await starting
    const { value, transfer, limitMs } = message()
    return new Promise((resolve, reject) => {
      const settle = (then: () => void) => {
        stopTimer()
        this.#fail = undefined
        this.#busy = undefined
        worker.off('message', onMessage).off('error', onError).off('exit', onExit)
        then()
        if (this.#hasLowPriority) this.#replace(worker, starting)
      }
      const onMessage = (answer: unknown) => settle(() => resolve(answer))
      const fail = (error: Error) => {
        this.#dropWorker(starting)
        settle(() => reject(error))
      }
      const onError = (cause: unknown) => fail(new Error('The thread failed.', { cause }))
      const onExit = () => fail(new Error('The thread ended.'))
      this.#fail = (error) => {
        fail(error)
        void worker.terminate()
      }
      this.#busy = worker
      this.#workedBefore = this.#workedMsOf(worker)
      const stopTimer = this.#limitWork(limitMs)
      worker.on('message', onMessage).on('error', onError).on('exit', onExit)
      worker.postMessage(value, transfer)
    })
  }

  /** Fails the message in progress when it has worked for `limitMs`. */
  #limitWork(limitMs: number): () => void {
    const endsAt = this.#clock.elapsed() + maxWaitFactor * limitMs
    let stopTimer: () => void
    const checkIn = (ms: number) => {
      stopTimer = this.#clock.setTimeout(() => {
        const leftMs = Math.min(limitMs - this.workedMs(), endsAt - this.#clock.elapsed())
        if (leftMs > 0) checkIn(Math.max(leftMs, minCheckMs))
        else this.#fail?.(new ThreadTimeout(`The thread took longer than ${limitMs} ms.`))
      }, ms)
    }
    checkIn(limitMs)
    return () => stopTimer()
  }

  #replace(worker: Worker, starting: Promise<Worker>): void {
    this.#hasLowPriority = false
    this.#dropWorker(starting)
    void worker.terminate()
  }

  #newWorker(): Promise<Worker> {
    const starting = Promise.resolve(this.#start()).then((worker) => {
      worker.unref()
      // A message in progress has its own listener. Without this listener, an error of an idle worker would end the process.
      worker.on('error', () => {})
      worker.once('exit', () => this.#dropWorker(starting))
      this.#isReady = true
      return worker
    })
    starting.catch(() => this.#dropWorker(starting))
    return starting
  }

  #dropWorker(worker: Promise<Worker>): void {
    if (this.#worker !== worker) return
    this.#worker = undefined
    this.#isReady = false
  }

  #workedMsOf(worker: Worker): number {
    return processorMs(worker) ?? this.#clock.elapsed()
  }
}
