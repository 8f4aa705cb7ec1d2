import { isLoopHeld, isLoopLate } from './loop-time.ts'
import { LaneQueue } from './lane-queue.ts'

/**
 * Runs waiting work lane by lane in turn: one piece in each iteration of the event loop, and more while `hasTime` says so.
 * An iteration that was held by a long piece has no second one.
 */
export class LoopTurns {
  readonly #waiting = new LaneQueue<() => void>()
  readonly #hasTime: (() => boolean) | undefined
  /** Only once in a row, so that there is always progress. */
  #isPutOff = false

  constructor(hasTime?: () => boolean) {
    this.#hasTime = hasTime
  }

  /** Whether nobody waits. */
  get isIdle(): boolean {
    return this.#waiting.isEmpty
  }

  /** Whether work need not wait: nothing else does, and there is time. */
  get isFree(): boolean {
    return this.isIdle && this.#hasTime?.() !== false
  }

  wait(lane: string): Promise<void> {
    return new Promise((resolve) => this.add(lane, resolve))
  }

  /** Does the work when it is its turn. */
  add(lane: string, work: () => void): void {
    if (this.isIdle) setImmediate(this.#next)
    this.#waiting.add(lane, work)
  }

  readonly #next = (): void => {
    // Asked in any case: the first question of an iteration starts its clock.
    this.#isPutOff = isLoopHeld() && !this.#isPutOff
    if (this.#isPutOff) return void setImmediate(this.#next)
    this.#waiting.take()?.()
    if (this.isIdle) return
    if (this.#hasTime) afterThis(() => (this.#hasTime?.() ? this.#next() : setImmediate(this.#next)))
    else setImmediate(this.#next)
  }
}

/** When everything is done that can be done now, with all that was awaited in between and is there already. */
function afterThis(work: () => void): void {
  queueMicrotask(() => process.nextTick(work))
}

/** For as long as this iteration of the event loop may be busy. */
export const untilLoopIsLate = () => !isLoopLate()
