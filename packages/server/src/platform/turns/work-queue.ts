import type { WorkOwner } from './fair-queue.ts'
import type { Scheduler, SlicedTask } from './scheduler.ts'

/** The connection of the client whose work waits. */
export interface WorkHost {
  readonly scheduler: Scheduler
  readonly owner: WorkOwner
  /** Stops reading from the client until `release`. */
  hold(): void
  release(): void
}

export interface WorkQueueOptions {
  /** Whether work may run now. If not, the queue stops until `start`. */
  mayRun?: () => boolean
  /** Called when work is left and `mayRun` returned false. */
  onBlocked?: () => void
  /** Called when work threw an error. The rest of the queue continues. */
  onError?: (error: unknown) => void
}

/**
 * Work of one client that has to wait. It runs in order, in slices shared with other clients. While work waits, the server
 * reads nothing more from the client.
 */
export class WorkQueue implements SlicedTask {
  readonly #host: WorkHost
  readonly #options: WorkQueueOptions
  #works: (() => void)[] = []
  #isStarted = false
  #isHolding = false

  constructor(host: WorkHost, options: WorkQueueOptions = {}) {
    this.#host = host
    this.#options = options
  }

  get length(): number {
    return this.#works.length
  }

  get owner(): WorkOwner {
    return this.#host.owner
  }

  /** Runs the work now if nothing waits and there is time; otherwise queues it. */
  runOrQueue(work: () => void): void {
    const { scheduler } = this.#host
    if (this.#works.length === 0 && scheduler.hasTime) {
      scheduler.runNow(work)
    } else {
      this.push(work)
      this.start()
    }
  }

  /** Queues work that waits for `start`. */
  push(work: () => void): void {
    this.#works.push(work)
    if (this.#isHolding) return
    this.#isHolding = true
    this.#host.hold()
  }

  start(): void {
    if (this.#isStarted || this.#works.length === 0) return
    this.#isStarted = true
    this.#host.scheduler.schedule(this)
  }

  run(deadline: number): boolean {
    do this.#step()
    while (this.#isStarted && performance.now() < deadline)
    return this.#isStarted
  }

  #step(): void {
    const { mayRun, onBlocked, onError } = this.#options
    const isBlocked = this.#works.length > 0 && mayRun?.() === false
    const work = isBlocked ? undefined : this.#works.shift()
    try {
      work?.()
    } catch (error) {
      onError?.(error)
    }
    this.#releaseIfEmpty()
    this.#isStarted = !isBlocked && this.#works.length > 0
    if (isBlocked) onBlocked?.()
  }

  /** Drops all waiting work. */
  clear(): void {
    this.#works = []
    this.#releaseIfEmpty()
  }

  #releaseIfEmpty(): void {
    if (!this.#isHolding || this.#works.length > 0) return
    this.#isHolding = false
    this.#host.release()
  }
}
