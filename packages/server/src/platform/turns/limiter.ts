import { LazyMap } from '../lazy-collections.ts'
import { LaneQueue } from './lane-queue.ts'
import { isLoopLate } from './loop-time.ts'

export interface LimiterOptions {
  /**
   * Whether waiting work starts as soon as a place is free, unless this iteration of the event loop is late. Default: false,
   * it starts in the next iteration. SQLite answers at once, so with true all waiting queries could run in one iteration.
   */
  startsAtOnce?: boolean
}

/**
 * Limits how much work runs at the same time. Further work waits, without a timeout. Waiting lanes take turns, and so do the
 * sub-lanes of a lane, so one busy lane cannot starve the others. Work that finds a free place starts synchronously.
 */
export class Limiter {
  readonly #startsAtOnce: boolean
  /** The name of a lane, once for each work that waits in it. */
  readonly #lanes = new LaneQueue<string>()
  /** The waiting work of each lane. */
  readonly #waiting = new LazyMap<string, LaneQueue<() => void>>()
  /** How many places are free. */
  #free: number

  constructor(maxConcurrent: number, { startsAtOnce = false }: LimiterOptions = {}) {
    this.#free = maxConcurrent
    this.#startsAtOnce = startsAtOnce
  }

  async run<T>(lane: string, work: () => Promise<T>, subLane = ''): Promise<T> {
    if (this.#free > 0) this.#free--
    else await this.#wait(lane, subLane)
    try {
      return await work()
    } finally {
      this.#release()
    }
  }

  /** Waits for a place, and keeps it until the returned function is called. Calling that again has no effect. */
  async enter(lane: string, subLane = ''): Promise<() => void> {
    if (this.#free > 0) this.#free--
    else await this.#wait(lane, subLane)
    let isHeld = true
    return () => {
      if (isHeld) this.#release()
      isHeld = false
    }
  }

  #wait(lane: string, subLane: string): Promise<void> {
    return new Promise((resolve) => {
      const waiting = this.#waiting.get(lane) ?? new LaneQueue()
      this.#waiting.set(lane, waiting)
      waiting.add(subLane, resolve)
      this.#lanes.add(lane, lane)
    })
  }

  /** Passes the place on to waiting work. It is not free in between, so work that arrives meanwhile cannot take it. */
  #release(): void {
    const start = this.#takeNext()
    if (!start) this.#free++
    else if (this.#startsAtOnce && !isLoopLate()) start()
    else setImmediate(start)
  }

  #takeNext(): (() => void) | undefined {
    const lane = this.#lanes.take()
    if (lane === undefined) return undefined
    const waiting = this.#waiting.get(lane)
    const next = waiting?.take()
    if (waiting?.isEmpty) this.#waiting.delete(lane)
    return next
  }
}

/** Limits how much work of each lane runs at the same time. Lanes do not wait for each other. */
export class LaneLimiters {
  readonly #maxPerLane: number
  /** The lanes with work that runs or waits. `works` counts it. */
  readonly #lanes = new Map<string, { limiter: Limiter; works: number }>()

  constructor(maxPerLane: number) {
    this.#maxPerLane = maxPerLane
  }

  async run<T>(lane: string, work: () => Promise<T>): Promise<T> {
    const limiter = this.#use(lane)
    try {
      return await limiter.run('', work)
    } finally {
      this.#leave(lane)
    }
  }

  /** Waits for a place of the lane, and keeps it until the returned function is called. Calling that again has no effect. */
  async enter(lane: string, subLane = ''): Promise<() => void> {
    const release = await this.#use(lane).enter(subLane)
    let isHeld = true
    return () => {
      if (!isHeld) return
      isHeld = false
      release()
      this.#leave(lane)
    }
  }

  #use(lane: string): Limiter {
    const used = this.#lanes.get(lane) ?? {
      limiter: new Limiter(this.#maxPerLane, { startsAtOnce: true }),
      works: 0,
    }
    this.#lanes.set(lane, used)
    used.works++
    return used.limiter
  }

  #leave(lane: string): void {
    const used = this.#lanes.get(lane)
    if (used && --used.works === 0) this.#lanes.delete(lane)
  }
}
