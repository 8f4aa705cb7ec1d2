import { LaneQueue } from './lane-queue.ts'
import { isLoopHeld, isLoopLate } from './loop-time.ts'

export interface StartQueueOptions {
  /** Starts more work while this iteration of the event loop is not late. Default: one start in each iteration. */
  startsUntilLate?: boolean
}

/**
 * Decides when work starts that cannot be divided into slices: a request, or one slice of a long read. What arrives
 * together does not hold the event loop together. Lanes take turns. An iteration in which one piece of work has run for
 * long starts nothing more.
 */
export class StartQueue {
  readonly #waiting = new LaneQueue<() => void>()
  readonly #startsUntilLate: boolean
  /** Never twice in a row, so that there is always progress. */
  #wasPostponed = false

  constructor({ startsUntilLate = false }: StartQueueOptions = {}) {
    this.#startsUntilLate = startsUntilLate
  }

  /** Whether work may start now: nothing waits, and this iteration has time. */
  get canStart(): boolean {
    return this.#waiting.isEmpty && (!this.#startsUntilLate || !isLoopLate())
  }

  /** Undefined: start now. Otherwise the promise resolves when the caller may start. */
  enter(lane: string): Promise<void> | undefined {
    return this.canStart ? undefined : this.wait(lane)
  }

  /** Resolves when the caller may start, never at once. */
  wait(lane: string): Promise<void> {
    return new Promise((resolve) => this.add(lane, resolve))
  }

  /** Calls `start` when its turn comes, never at once. */
  add(lane: string, start: () => void): void {
    if (this.#waiting.isEmpty) setImmediate(this.#next)
    this.#waiting.add(lane, start)
  }

  readonly #next = (): void => {
    // Evaluated in any case: the first question of an iteration starts the iteration's clock.
    this.#wasPostponed = isLoopHeld() && !this.#wasPostponed
    if (this.#wasPostponed) return void setImmediate(this.#next)
    this.#waiting.take()?.()
    if (this.#waiting.isEmpty) return
    if (this.#startsUntilLate) afterStarted(() => (isLoopLate() ? setImmediate(this.#next) : this.#next()))
    else setImmediate(this.#next)
  }
}

/** Runs after everything that the started work can do now, including what it awaits and is settled already. */
function afterStarted(run: () => void): void {
  queueMicrotask(() => process.nextTick(run))
}
