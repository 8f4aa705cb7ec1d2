import type { WorkOwner } from './fair-queue.ts'
import type { Scheduler, SlicedTask } from './scheduler.ts'

/** The connection of the client whose work waits. */
export interface WorkHost {
  readonly scheduler: Scheduler
  readonly owner: WorkOwner
  /** Stops reading from the client until `release` is called. */
  hold(): void
  release(): void
}

/** What the owner of a queue decides and learns. */
export interface WorkQueueOwner {
  /** Whether work may run now. If it returns false, the queue stops until `start` is called. */
  mayRun?(): boolean
  /** Called when the queue stops because `mayRun` returned false. */
  onBlocked?(): void
  /** Called when queued work threw an error. The queue continues with the next work. */
  onError?(error: unknown): void
}

/**
 * The waiting work of one client. It runs in order, in slices that alternate with those of other clients. While work waits,
 * the server reads nothing more from the client.
 */
export class WorkQueue implements SlicedTask {
  readonly #host: WorkHost
  readonly #queueOwner: WorkQueueOwner
  #queue: (() => void)[] = []
  #isStarted = false
  #isHolding = false

  constructor(host: WorkHost, queueOwner: WorkQueueOwner = {}) {
    this.#host = host
    this.#queueOwner = queueOwner
  }

  get length(): number {
    return this.#queue.length
  }

  get owner(): WorkOwner {
    return this.#host.owner
  }

  /** Runs the work now if nothing waits and there is time; otherwise queues it. */
  runOrQueue(work: () => void): void {
    const { scheduler } = this.#host
    if (this.#queue.length === 0 && scheduler.hasTime) {
      scheduler.runNow(work)
    } else {
      this.push(work)
      this.start()
    }
  }

  /** Queues work, which waits until `start` is called. */
  push(work: () => void): void {
    this.#queue.push(work)
    if (this.#isHolding) return
    this.#isHolding = true
    this.#host.hold()
  }

  start(): void {
    if (this.#isStarted || this.#queue.length === 0) return
    this.#isStarted = true
    this.#host.scheduler.schedule(this)
  }

  run(deadline: number): boolean {
    do this.#step()
    while (this.#isStarted && performance.now() < deadline)
    return this.#isStarted
  }

  #step(): void {
    const isBlocked = this.#queue.length > 0 && this.#queueOwner.mayRun?.() === false
    const work = isBlocked ? undefined : this.#queue.shift()
    try {
      work?.()
    } catch (error) {
      this.#queueOwner.onError?.(error)
    }
    this.#releaseIfEmpty()
    this.#isStarted = !isBlocked && this.#queue.length > 0
    if (isBlocked) this.#queueOwner.onBlocked?.()
  }

  /** Drops all waiting work. */
  clear(): void {
    this.#queue = []
    this.#releaseIfEmpty()
  }

  #releaseIfEmpty(): void {
    if (!this.#isHolding || this.#queue.length > 0) return
    // An emptied array keeps its memory, and most queues stay empty from then on.
    this.#queue = []
    this.#isHolding = false
    this.#host.release()
  }
}
