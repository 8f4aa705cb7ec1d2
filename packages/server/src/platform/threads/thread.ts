import type { Worker, TransferListItem } from 'node:worker_threads'
import { lowerPriority, processorMs } from './worker.ts'

export interface Message {
  value: unknown
  transfer: TransferListItem[]
  /** If it takes longer, the thread is ended. */
  limitMs: number
}

/** The thread was ended because of the time that a message took. */
export class TookTooLong extends Error {
  override name = 'TookTooLong'
}

/** The thread was ended before it had answered. */
export class Stopped extends Error {
  override name = 'Stopped'
}

/**
 * A worker thread that answers one message after the other. It starts with the first, and again after it has ended: then
 * the message it was busy with fails, and those that wait go to the new one.
 */
export class Thread {
  readonly #start: () => Worker | Promise<Worker>
  #worker: Promise<Worker> | undefined
  #last: Promise<unknown> = Promise.resolve()
  /** What is under way fails with that error. */
  #fail: ((error: Error) => void) | undefined
  #busy: Worker | undefined
  #isReady = false
  /** How long the worker had worked when it was sent its message. */
  #workedBefore = 0
  #isSlowed = false
  #isClosed = false

  constructor(start: () => Worker | Promise<Worker>) {
    this.#start = start
  }

  /** The message is made when its turn has come. */
  ask(message: () => Message): Promise<unknown> {
    const answer = this.#last.then(() => this.#ask(message))
    this.#last = answer.catch(() => {})
    return answer
  }

  /** Whether its worker runs, or is about to. */
  get isStarted(): boolean {
    return this.#worker !== undefined
  }

  /** Whether a message does not have to wait for the start of its worker. */
  get isReady(): boolean {
    return this.#isReady
  }

  /** Starts its worker unless it runs already. Resolves when it is ready. */
  async start(): Promise<void> {
    if (this.#isClosed) throw new Error('The thread is closed.')
    this.#worker ??= this.#newWorker()
    await this.#worker
  }

  /** How long it has worked on its message: in processor time if that can be known, so that a busy machine does not count. */
  workedMs(): number {
    return this.#busy ? clockOf(this.#busy) - this.#workedBefore : 0
  }

  /** Ends the work on the message that it is busy with, which fails with `Stopped`. */
  stop(): void {
    this.#fail?.(new Stopped('The thread was stopped.'))
  }

  /** The message that it is busy with takes long: other threads go first. The next message gets another worker. */
  lowerPriority(): void {
    if (!this.#busy) return
    lowerPriority(this.#busy)
    this.#isSlowed = true
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
        clearTimeout(timer)
        this.#fail = undefined
        this.#busy = undefined
        worker.off('message', onMessage).off('error', onError).off('exit', onExit)
        then()
        if (this.#isSlowed) this.#replace(worker, starting)
      }
      const onMessage = (answer: unknown) => settle(() => resolve(answer))
      const fail = (error: Error) => {
        this.#forget(starting)
        settle(() => reject(error))
      }
      const onError = (cause: unknown) => fail(new Error('The thread failed.', { cause }))
      const onExit = () => fail(new Error('The thread ended.'))
      this.#fail = (error) => {
        fail(error)
        void worker.terminate()
      }
      const timer = setTimeout(() => {
        this.#fail?.(new TookTooLong(`It took the thread longer than ${limitMs} ms.`))
      }, limitMs)
      this.#busy = worker
      this.#workedBefore = clockOf(worker)
      worker.on('message', onMessage).on('error', onError).on('exit', onExit)
      worker.postMessage(value, transfer)
    })
  }

  #replace(worker: Worker, starting: Promise<Worker>): void {
    this.#isSlowed = false
    this.#forget(starting)
    void worker.terminate()
  }

  #newWorker(): Promise<Worker> {
    const starting = Promise.resolve(this.#start()).then((worker) => {
      worker.unref()
      // The message it was busy with is told; without a listener the process would end.
      worker.on('error', () => {})
      worker.once('exit', () => this.#forget(starting))
      this.#isReady = true
      return worker
    })
    starting.catch(() => this.#forget(starting))
    return starting
  }

  #forget(worker: Promise<Worker>): void {
    if (this.#worker !== worker) return
    this.#worker = undefined
    this.#isReady = false
  }
}

const clockOf = (worker: Worker): number => processorMs(worker) ?? performance.now()
