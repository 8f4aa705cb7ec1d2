import { setImmediate as nextLoop } from 'node:timers/promises'
import { FairQueue, type WorkOwner } from './fair-queue.ts'

/** What the clients' work may take in one iteration of the event loop. */
const maxIterationMs = 8
/** What one client may take before the next one has its turn. */
const maxSliceMs = 2

/** Work of one client, done step by step. */
export interface Steps {
  readonly owner: WorkOwner
  /** Does one step; false if there is none left, or none that can be done now. */
  step(): boolean
}

/** Bounds how long the messages of clients hold the event loop, and divides that time between the clients. */
export class Turns {
  readonly #waiting = new FairQueue<Steps>()
  #spentMs = 0
  #isRunning = false
  #isScheduled = false

  /** Whether the clients' work may go on in this iteration of the event loop. */
  get hasTime(): boolean {
    return this.#spentMs < maxIterationMs
  }

  /** Runs it now and counts its time. */
  run(work: () => void): void {
    // Work inside of other work is counted with that.
    if (this.#isRunning) return work()
    const startedAt = performance.now()
    this.#isRunning = true
    try {
      work()
    } finally {
      this.#isRunning = false
      this.#spentMs += performance.now() - startedAt
      this.#schedule()
    }
  }

  /** Takes all steps, the first ones at once if there is time. Must not be called again before the last one. */
  start(steps: Steps): void {
    if (!this.hasTime || this.#runSlice(steps)) this.#waiting.add(steps, steps.owner)
    this.#schedule()
  }

  /** Resolves when no steps are left that can be taken. */
  async idle(): Promise<void> {
    while (this.#waiting.size > 0) await nextLoop()
  }

  /** Whether steps are left. */
  #runSlice(steps: Steps): boolean {
    const endsAt = performance.now() + maxSliceMs
    let isLeft = true
    this.run(() => {
      while (isLeft && performance.now() < endsAt) isLeft = steps.step()
    })
    return isLeft
  }

  /** Begins the next iteration; called in each one that had work, and while work is left. */
  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(() => {
      this.#isScheduled = false
      this.#spentMs = 0
      while (this.#waiting.size > 0 && this.hasTime) {
        this.#waiting.takeNext((steps) => {
          if (this.#runSlice(steps)) this.#waiting.add(steps, steps.owner)
        })
      }
      if (this.#waiting.size > 0) this.#schedule()
    })
  }
}
