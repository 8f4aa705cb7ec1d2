import { setImmediate as nextLoop } from 'node:timers/promises'
import { iterationMs } from './loop-time.ts'
import { FairQueue, type WorkOwner } from './fair-queue.ts'

/** Work that takes less is counted with what follows: to wait for the end of the iteration costs as much as a keystroke. */
const littleMs = 1
/** What one taker may take before the next one has its turn. */
const maxSliceMs = 2

/** Work of one client, done piece by piece. */
export interface TurnTaker {
  readonly owner: WorkOwner
  /** Does at least one piece, then more until `deadline`; true if more can be done. */
  run(deadline: number): boolean
}

/** Bounds how long the work of clients holds the event loop, and divides that time between the clients. */
export class FairTurns {
  readonly #waiting = new FairQueue<TurnTaker>()
  #spentMs = 0
  #isRunning = false
  #isScheduled = false

  /** Whether work that comes now may be done at once. */
  get isFree(): boolean {
    return this.#spentMs < iterationMs()
  }

  /** Does it now and counts its time. */
  spend(work: () => void): void {
    const startedAt = this.begin()
    try {
      work()
    } finally {
      this.end(startedAt)
    }
  }

  /** Work begins whose time counts until `end` is called with the answer. */
  begin(): number | undefined {
    // Work inside of other work is counted with that.
    if (this.#isRunning) return undefined
    this.#isRunning = true
    return performance.now()
  }

  end(startedAt: number | undefined): void {
    if (startedAt === undefined) return
    this.#isRunning = false
    this.#spentMs += performance.now() - startedAt
    if (this.#spentMs >= littleMs) this.#schedule()
  }

  /** Gives it turns until nothing is left that can be done; the first one at once if there is time. */
  add(taker: TurnTaker): void {
    if (this.#waiting.has(taker)) return
    if (this.isFree && !this.#run(taker)) return
    this.#waiting.add(taker, taker.owner)
    this.#schedule()
  }

  /** Resolves when nobody waits for a turn. */
  async idle(): Promise<void> {
    while (this.#waiting.size > 0) await nextLoop()
  }

  #run(taker: TurnTaker): boolean {
    let isLeft = false
    this.spend(() => {
      isLeft = taker.run(performance.now() + Math.min(maxSliceMs, iterationMs()))
    })
    return isLeft
  }

  /** Begins the next iteration; called in each one that had more than a little work, and while work is left. */
  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(() => {
      this.#isScheduled = false
      this.#spentMs = 0
      // To find who is next takes time as well, with thousands who wait.
      const endsAt = performance.now() + iterationMs()
      while (this.#waiting.size > 0) {
        this.#waiting.takeNext((taker) => {
          if (this.#run(taker)) this.#waiting.add(taker, taker.owner)
        })
        if (performance.now() >= endsAt) break
      }
      if (this.#waiting.size > 0) this.#schedule()
    })
  }
}
