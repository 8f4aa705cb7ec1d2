import { setImmediate as nextIteration } from 'node:timers/promises'
import { FairQueue, type WorkOwner } from './fair-queue.ts'
import { maxIterationMs } from './loop-time.ts'

/** Work below this is charged to the next iteration: waiting for this one to end costs as much as handling a keystroke. */
const negligibleMs = 1
/** How long one task may run before the next one has its turn. */
const maxSliceMs = 2

/** Work of one owner that runs in slices. */
export interface SlicedTask {
  readonly owner: WorkOwner
  /** Does at least one step, then more until `deadline` (`performance.now()`). True if more can be done. */
  run(deadline: number): boolean
}

/**
 * Runs tasks in slices, a few milliseconds in each iteration of the event loop, and divides that time fairly: between
 * tenants, then between the users of a tenant (see `FairQueue`). The time is its own, not the whole iteration's: to ask
 * for that at every message would cost more than most messages do.
 */
export class Scheduler {
  readonly #waiting = new FairQueue<SlicedTask>()
  #spentMs = 0
  #isRunning = false
  #isScheduled = false

  /** Whether new work may run at once in this iteration. */
  get hasTime(): boolean {
    return this.#spentMs < maxIterationMs()
  }

  /** Runs the work now and charges its time to this iteration. */
  runNow(work: () => void): void {
    const startedAt = this.startTiming()
    try {
      work()
    } finally {
      this.stopTiming(startedAt)
    }
  }

  /** Starts to charge time. Pass the result to `end`. */
  startTiming(): number | undefined {
    // Nested work is charged with the work around it.
    if (this.#isRunning) return undefined
    this.#isRunning = true
    return performance.now()
  }

  stopTiming(startedAt: number | undefined): void {
    if (startedAt === undefined) return
    this.#isRunning = false
    this.#spentMs += performance.now() - startedAt
    if (this.#spentMs >= negligibleMs) this.#schedule()
  }

  /** Runs the task slice by slice until it is done. The first slice runs now if there is time. */
  schedule(task: SlicedTask): void {
    if (this.#waiting.has(task)) return
    if (this.hasTime && !this.#run(task)) return
    this.#waiting.add(task, task.owner)
    this.#schedule()
  }

  /** Runs a generator, one step after the other; each `yield` may end a slice. An error ends it. */
  scheduleSteps(owner: WorkOwner, steps: Iterator<unknown>, onError: (error: unknown) => void): void {
    const run = (deadline: number) => {
      try {
        do if (steps.next().done) return false
        while (performance.now() < deadline)
        return true
      } catch (error) {
        onError(error)
        return false
      }
    }
    this.schedule({ owner, run })
  }

  /** Runs the work once, in a slice of its owner. Resolves after it, and rejects with its error. */
  scheduleOnce(owner: WorkOwner, work: () => void): Promise<void> {
    return new Promise((resolve, reject) => {
      const run = () => {
        try {
          resolve(work())
        } catch (error) {
          reject(error)
        }
        return false
      }
      this.schedule({ owner, run })
    })
  }

  /** Resolves when no task waits. */
  async idle(): Promise<void> {
    while (this.#waiting.size > 0) await nextIteration()
  }

  #run(task: SlicedTask): boolean {
    let hasMore = false
    this.runNow(() => {
      hasMore = task.run(performance.now() + Math.min(maxSliceMs, maxIterationMs()))
    })
    return hasMore
  }

  /** Starts the budget of the next iteration. Called in every iteration with more than negligible work, or work left. */
  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(() => {
      this.#isScheduled = false
      this.#spentMs = 0
      // Not the charged time: with thousands of waiting tasks, finding the next one takes time as well.
      const endsAt = performance.now() + maxIterationMs()
      while (this.#waiting.size > 0) {
        this.#waiting.takeNext((task) => {
          if (this.#run(task)) this.#waiting.add(task, task.owner)
        })
        if (performance.now() >= endsAt) break
      }
      if (this.#waiting.size > 0) this.#schedule()
    })
  }
}
