import type { WorkOwner } from './fair-queue.ts'
import type { FairTurns, TurnTaker } from './fair-turns.ts'

/** What a queue needs of the connection of its client. */
export interface WorkHost {
  readonly turns: FairTurns
  readonly owner: WorkOwner
  /** Reads nothing more of the client, until `release`. */
  hold(): void
  release(): void
}

export interface WorkQueueOptions {
  /** Whether work can be done at this moment. If not, the queue stops until `start`. */
  mayRun?: () => boolean
  /** Work is left, and `mayRun` said no. */
  onBlocked?: () => void
  /** Work threw an error; what is left goes on. */
  onError?: (error: unknown) => void
}

/**
 * Work of one client that has to wait. It is done in order, in turns with that of other clients. As long as there is any,
 * nothing more is read of the client.
 */
export class WorkQueue implements TurnTaker {
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

  /** Does it now, if nothing waits and there is time. */
  do(work: () => void): void {
    const { turns } = this.#host
    if (this.#works.length === 0 && turns.isFree) {
      turns.spend(work)
    } else {
      this.push(work)
      this.start()
    }
  }

  /** Adds work that waits until `start`. */
  push(work: () => void): void {
    this.#works.push(work)
    if (this.#isHolding) return
    this.#isHolding = true
    this.#host.hold()
  }

  start(): void {
    if (this.#isStarted || this.#works.length === 0) return
    this.#isStarted = true
    this.#host.turns.add(this)
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

  /** Drops what waits. */
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
