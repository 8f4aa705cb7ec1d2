import type { Worker, TransferListItem } from 'node:worker_threads'

export interface Message {
  value: unknown
  transfer: TransferListItem[]
  /** If it takes longer, the thread is ended. */
  limitMs: number
}

/**
 * A worker thread that answers one message after the other. It starts with the first, and again after it has ended: then
 * the message it was busy with fails, and those that wait go to the new one.
 */
export class Thread {
  readonly #start: () => Worker
  #worker: Worker | undefined
  #last: Promise<unknown> = Promise.resolve()
  #isClosed = false

  constructor(start: () => Worker) {
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
    await this.#worker?.terminate()
  }

  #ask(message: () => Message): Promise<unknown> {
    if (this.#isClosed) throw new Error('The thread is closed.')
    const worker = (this.#worker ??= this.#newWorker())
    const { value, transfer, limitMs } = message()
    return new Promise((resolve, reject) => {
      const settle = (then: () => void) => {
        clearTimeout(timer)
        worker.off('message', onMessage).off('error', onError).off('exit', onExit)
        then()
      }
      const onMessage = (answer: unknown) => settle(() => resolve(answer))
      const fail = (reason: string, cause?: unknown) => {
        if (this.#worker === worker) this.#worker = undefined
        settle(() => reject(new Error(reason, { cause })))
      }
      const onError = (error: unknown) => fail('The thread failed.', error)
      const onExit = () => fail('The thread ended.')
      const timer = setTimeout(() => {
        fail(`It took the thread longer than ${limitMs} ms.`)
        void worker.terminate()
      }, limitMs)
      worker.on('message', onMessage).on('error', onError).on('exit', onExit)
      worker.postMessage(value, transfer)
    })
  }

  #newWorker(): Worker {
    const worker = this.#start()
    worker.unref()
    // The message it was busy with is told; without a listener the process would end.
    worker.on('error', () => {})
    worker.once('exit', () => {
      if (this.#worker === worker) this.#worker = undefined
    })
    return worker
  }
}
