import type { Worker, TransferListItem } from 'node:worker_threads'

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

/**
 * A worker thread that answers one message after the other. It starts with the first, and again after it has ended: then
 * the message it was busy with fails, and those that wait go to the new one.
 */
export class Thread {
  readonly #start: () => Worker | Promise<Worker>
  #worker: Promise<Worker> | undefined
  #last: Promise<unknown> = Promise.resolve()
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
        worker.off('message', onMessage).off('error', onError).off('exit', onExit)
        then()
      }
      const onMessage = (answer: unknown) => settle(() => resolve(answer))
      const fail = (error: Error) => {
        this.#forget(starting)
        settle(() => reject(error))
      }
      const onError = (cause: unknown) => fail(new Error('The thread failed.', { cause }))
      const onExit = () => fail(new Error('The thread ended.'))
      const timer = setTimeout(() => {
        fail(new TookTooLong(`It took the thread longer than ${limitMs} ms.`))
        void worker.terminate()
      }, limitMs)
      worker.on('message', onMessage).on('error', onError).on('exit', onExit)
      worker.postMessage(value, transfer)
    })
  }

  #newWorker(): Promise<Worker> {
    const starting = Promise.resolve(this.#start()).then((worker) => {
      worker.unref()
      // The message it was busy with is told; without a listener the process would end.
      worker.on('error', () => {})
      worker.once('exit', () => this.#forget(starting))
      return worker
    })
    starting.catch(() => this.#forget(starting))
    return starting
  }

  #forget(worker: Promise<Worker>): void {
    if (this.#worker === worker) this.#worker = undefined
  }
}
