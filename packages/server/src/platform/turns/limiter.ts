import { LaneQueue } from './lane-queue.ts'
import { isLoopLate } from './loop-time.ts'

export interface LimiterOptions {
  /**
   * Work that waited starts as soon as a place is free, unless this iteration of the event loop is late. Default: it
   * starts in a later iteration. SQLite answers at once, so otherwise all waiting queries would run in one iteration.
   */
  startsAtOnce?: boolean
}

/**
 * Limits how much work runs at a time. The rest waits without a timeout. Waiting lanes take turns, and so do the
 * sub-lanes of a lane, so one busy lane cannot starve the others. Work that finds a free place starts synchronously.
 */
export class Limiter {
  readonly #startsAtOnce: boolean
  readonly #lanes = new LaneQueue<string>()
  readonly #waiting = new Map<string, LaneQueue<() => void>>()
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

  /** Takes a place until the returned function is called. Calls after the first have no effect. */
  async enter(lane: string): Promise<() => void> {
    if (this.#free > 0) this.#free--
    else await this.#wait(lane, '')
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

  /** Passes the place on, so that work which arrives meanwhile cannot take it. */
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

/** Limits how much work of each lane runs at a time. Lanes do not wait for each other. */
export class LaneLimiters {
  readonly #maxPerLane: number
  readonly #lanes = new Map<string, { limiter: Limiter; users: number }>()

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

  /** Takes a place of the lane until the returned function is called. Calls after the first have no effect. */
  async enter(lane: string): Promise<() => void> {
    const release = await this.#use(lane).enter('')
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
      users: 0,
    }
    this.#lanes.set(lane, used)
    used.users++
    return used.limiter
  }

  #leave(lane: string): void {
    const used = this.#lanes.get(lane)
    if (used && --used.users === 0) this.#lanes.delete(lane)
  }
}
