import { LaneQueue } from './lane-queue.ts'
import { isLoopHeld, isLoopLate } from './loop-time.ts'

export interface StartQueueOptions {
  /** Starts more work while this iteration of the event loop is not late. Default: one start in each iteration. */
  startsUntilLate?: boolean
}

/**
 * Decides when work starts that cannot be divided into slices: a request, or one slice of a long read. Work that arrives
 * together starts in several iterations of the event loop, so that it does not block the loop together. Lanes take turns. An
 * iteration in which one piece of work has run for long starts nothing more.
 */
export class StartQueue {
  readonly #waiting = new LaneQueue<() => void>()
  readonly #startsUntilLate: boolean
  /** Whether the last iteration started nothing. That never happens twice in a row, so that there is always progress. */
  #wasPostponed = false

  constructor({ startsUntilLate = false }: StartQueueOptions = {}) {
    this.#startsUntilLate = startsUntilLate
  }

  /** Whether work may start now: nothing waits, and this iteration has time. */
  get canStart(): boolean {
    return this.#waiting.isEmpty && (!this.#startsUntilLate || !isLoopLate())
  }

  /** Returns undefined if the caller may start now, otherwise a promise that resolves when it may. */
  enter(lane: string): Promise<void> | undefined {
    return this.canStart ? undefined : this.wait(lane)
  }

  /** Resolves when the caller may start, at the earliest in the next iteration. */
  wait(lane: string): Promise<void> {
    return new Promise((resolve) => this.add(lane, resolve))
  }

  /** Calls `start` when the turn of the lane comes, at the earliest in the next iteration. */
  add(lane: string, start: () => void): void {
    if (this.#waiting.isEmpty) setImmediate(this.#next)
    this.#waiting.add(lane, start)
  }

  readonly #next = (): void => {
    // `isLoopHeld` must be called first in any case: the first call in an iteration starts the iteration's clock.
    this.#wasPostponed = isLoopHeld() && !this.#wasPostponed
    if (this.#wasPostponed) return void setImmediate(this.#next)
    this.#waiting.take()?.()
    if (this.#waiting.isEmpty) return
    if (this.#startsUntilLate) afterStarted(() => (isLoopLate() ? setImmediate(this.#next) : this.#next()))
    else setImmediate(this.#next)
  }
}

/** Calls `run` when the work that was just started waits for something: after all microtasks that can run now. */
function afterStarted(run: () => void): void {
  queueMicrotask(() => process.nextTick(run))
}
