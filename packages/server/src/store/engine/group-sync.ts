import { fdatasync } from 'node:fs'

export type Sync = (fd: number, done: (error: Error | null) => void) => void

/**
 * Group commit: every caller of `durable()` waits for one sync of the file that began after its call. Callers that come
 * while a sync runs share the next one, so the number of syncs depends on the disk and not on the number of writers.
 */
export class GroupSync {
  readonly #fd: number
  readonly #sync: Sync
  readonly #observe: ((seconds: number) => void) | undefined
  #waiting: { resolve: () => void; reject: (error: Error) => void }[] = []
  #isRunning = false
  #failure: Error | undefined

  constructor(fd: number, sync: Sync = fdatasync, observe?: (seconds: number) => void) {
    this.#fd = fd
    this.#sync = sync
    this.#observe = observe
  }

  durable(): Promise<void> {
    // After a failed sync the kernel may drop the pages and report success next time, so no later write is safe.
    if (this.#failure) return Promise.reject(this.#failure)
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject })
      if (!this.#isRunning) this.#run()
    })
  }

  #run(): void {
    this.#isRunning = true
    const batch = this.#waiting
    this.#waiting = []
    const began = performance.now()
    this.#sync(this.#fd, (error) => {
      this.#observe?.((performance.now() - began) / 1000)
      this.#isRunning = false
      if (error) {
        this.#failure = error
        for (const { reject } of [...batch, ...this.#waiting.splice(0)]) reject(error)
        return
      }
      if (this.#waiting.length > 0) this.#run()
      for (const { resolve } of batch) resolve()
    })
  }
}
