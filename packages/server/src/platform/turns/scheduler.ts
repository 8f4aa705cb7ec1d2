// How work shares the event loop, in the files of this folder:
// - `Scheduler` divides the time of the event loop between tenants and their users, in slices of a few milliseconds.
// - `StartQueue` decides when work starts that cannot be divided into slices, such as a request.
// - `Limiter` limits how much work runs at the same time, such as queries.
// - `WorkQueue` holds the waiting work of one client, which the scheduler runs.
// - `LongReads` divides long reads into slices, which a start queue starts.
// A lane is one participant in a round-robin, such as an API key: it gets its turn however much work the other lanes have.
import { setImmediate as nextIteration } from 'node:timers/promises'
import { FairQueue, type WorkOwner } from './fair-queue.ts'
import { maxIterationMs } from './loop-time.ts'

/**
 * Less work than this is charged to the next iteration: to notice the end of this one costs as much as handling a
 * keystroke.
 */
const negligibleMs = 1
/** How long one task may run before the next one has its turn. */
const maxSliceMs = 2

/** Work of one owner that runs in slices. */
export interface SlicedTask {
  readonly owner: WorkOwner
  /** Does at least one step, then more until `deadline` (as `performance.now()`). Returns true if work is left. */
  run(deadline: number): boolean
}

/**
 * Runs tasks in slices, a few milliseconds in each iteration of the event loop, and divides that time fairly: between
 * tenants, then between the users of a tenant (see `FairQueue`). It measures only the time of its own tasks, not that of the
 * whole iteration: to ask for that at every message would cost more than most messages do.
 */
export class Scheduler {
  readonly #waiting = new FairQueue<SlicedTask>()
  /** Time of tasks in this iteration. */
  #spentMs = 0
  #isRunning = false
  /** Whether the next iteration is requested. */
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

  /** Starts to charge time to this iteration. Pass the result to `stopTiming`. */
  startTiming(): number | undefined {
    // Nested work is charged together with the work around it.
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

  /** Runs the task slice by slice until its `run` returns false. The first slice runs now if there is time. */
  schedule(task: SlicedTask): void {
    if (this.#waiting.has(task)) return
    if (this.hasTime && !this.#run(task)) return
    this.#waiting.add(task, task.owner)
    this.#schedule()
  }

  /** Runs a generator, one step after the other. Each `yield` may end a slice. An error ends the generator. */
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

  /** Runs the work once, in a slice of its owner. Resolves when it has run, and rejects if it throws. */
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

  /** Runs one slice of the task. Returns true if work is left. */
  #run(task: SlicedTask): boolean {
    let hasMore = false
    this.runNow(() => {
      hasMore = task.run(performance.now() + Math.min(maxSliceMs, maxIterationMs()))
    })
    return hasMore
  }

  /**
   * Requests the next iteration, which has new time. Called in each iteration with more than negligible work, or with tasks
   * left.
   */
  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(() => {
      this.#isScheduled = false
      this.#spentMs = 0
      // Measures all time, not only that of tasks: with thousands of waiting tasks, to find the next one takes time as well.
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
