import { InProgress, laneOf, type Requester, type Shares } from './in-progress.ts'
import { Limiter, LaneLimiters } from './limiter.ts'
import { maxIterationMs } from './loop-time.ts'
import { Places } from './places.ts'
import { StartQueue } from './start-queue.ts'

/** Long enough to make progress, short enough not to delay other work. */
const defaultSliceMs = 5
/** Per API key: each large answer may hold 64 MiB in memory until the client has read it. */
const defaultMaxLargePerKey = 2

/** Large answers that wait. Each has encoded 1 to 5 MiB. */
const defaultMaxWaitingLarge: Shares = { perUser: 8, perKey: 24, perServer: 96 }

/** Lists whose rows are in memory. A query reads up to 4 MiB of rows, which take about 16 MiB when they are encoded. */
const defaultMaxLoaded: Shares = { perUser: 8, perKey: 16, perServer: 64 }

/** Lists that wait for something else, with the rows of one query. */
const maxOutside: Shares = { perUser: 8, perKey: 16, perServer: Infinity }

/** A query of up to this many rows is short, whatever the rows contain. */
const fewRows = 4

export interface LongReadLimits {
  sliceMs?: number
  maxLargePerKey?: number
  /** How many large answers may wait. */
  maxWaitingLarge?: Shares
  /** How many reads may have rows in memory. */
  maxLoaded?: Shares
  /**
   * How many queries may run at the same time, for PostgreSQL: the answers to all of them may arrive in one iteration.
   * Default: no limit.
   */
  maxQueries?: number
}

/** A read that may take long and runs in slices. */
export interface LongRead {
  /** Whether the time of the slice that runs now is used up. */
  readonly isSliceOver: boolean
  /** Waits for the next slice. */
  nextSlice(): Promise<void>
  /** Waits for the next slice if the time of this one is used up. */
  readonly pause: () => Promise<void>
  /** Runs a query, once the slice has time for it and fewer than `maxQueries` queries run. */
  query<T>(work: () => Promise<T>): Promise<T>
  /**
   * Takes a place in memory for rows. Returns undefined if one is free, otherwise a promise that resolves when the read has
   * one. Call `leave` when the rows are not needed any more.
   */
  enter(): Promise<void> | undefined
  leave(): void
  /** Waits for `work` without the place, if the read has one: `work` may take long, and others need the place. */
  outside<T>(work: () => Promise<T>): Promise<T>
  /**
   * Call it when the answer has become large. Leaves the place for rows, and waits until fewer than `maxLargePerKey` large
   * answers of the API key are open. Throws an `ApiError` if many wait. Calling it again has no effect.
   */
  becomeLarge(): Promise<void>
  /** Whether the answer counts as large and is still open. Other large answers of the API key may then wait for `close`. */
  readonly isLarge: boolean
  /** Call it when the answer has been sent, or when there will be none. */
  close(): void
}

/**
 * Lets long reads share the event loop with other work. The first slice of a read does not wait. Of the further slices of
 * all reads, one runs in each iteration. API keys take turns.
 */
export class LongReads {
  readonly #sliceMs: number
  readonly #slices = new StartQueue()
  readonly #queries: Limiter | undefined
  readonly #shared: Shared

  constructor(limits: LongReadLimits = {}) {
    const { maxLargePerKey = defaultMaxLargePerKey, maxWaitingLarge = defaultMaxWaitingLarge } = limits
    this.#sliceMs = limits.sliceMs ?? defaultSliceMs
    if (limits.maxQueries !== undefined) this.#queries = new Limiter(limits.maxQueries)
    const large = new LaneLimiters(maxLargePerKey)
    // So that one user who reads slowly does not hold up the large answers of all others of the API key.
    const largeOfUsers = new LaneLimiters(1)
    const reserve = { perUser: 1, perKey: 8 }
    const waitingLarge = new InProgress(maxWaitingLarge, reserve, 'Too many large answers are waiting.')
    this.#shared = {
      nextSlice: (apiKey) => this.#slices.wait(apiKey),
      query: (apiKey, work) => (this.#queries ? this.#queries.run(apiKey, work) : work()),
      loaded: new Places(limits.maxLoaded ?? defaultMaxLoaded),
      outside: new Places(maxOutside),
      async enterLarge(reader) {
        const stopWaiting = waitingLarge.enter(reader)
        try {
          const lane = laneOf(reader)
          const leaveUser = reader.user && (await largeOfUsers.enter(lane))
          const leave = await large.enter(reader.apiKey, lane)
          return () => {
            leave()
            leaveUser?.()
          }
        } finally {
          stopWaiting()
        }
      },
    }
  }

  /**
   * Runs the first query of a read, when it is not yet known whether the read takes long. A query of a few rows does not wait
   * for others.
   */
  query<T>(apiKey: string, work: () => Promise<T>, maxRows = Infinity): Promise<T> {
    return maxRows <= fewRows ? work() : this.#shared.query(apiKey, work)
  }

  /** `abandoned`: when it is aborted, the read ends with its reason at the next slice, query or place. */
  open(reader: Requester, abandoned?: AbortSignal): LongRead {
    return new SlicedRead(this.#sliceMs, reader, this.#shared, abandoned)
  }
}

/** The queues and limits that all reads share. */
interface Shared {
  nextSlice(apiKey: string): Promise<void>
  query<T>(apiKey: string, work: () => Promise<T>): Promise<T>
  /** The places for rows in memory. */
  readonly loaded: Places
  /** The places for reads that wait for something else, with rows in memory. */
  readonly outside: Places
  enterLarge(reader: Requester): Promise<() => void>
}

class SlicedRead implements LongRead {
  readonly #sliceMs: number
  readonly #reader: Requester
  readonly #shared: Shared
  readonly #abandoned: AbortSignal | undefined
  #startedAt = performance.now()
  #state: 'small' | 'large' | 'ended' = 'small'
  #leaveLarge: (() => void) | undefined
  #hasPlace = false

  constructor(sliceMs: number, reader: Requester, shared: Shared, abandoned: AbortSignal | undefined) {
    this.#sliceMs = sliceMs
    this.#reader = reader
    this.#shared = shared
    this.#abandoned = abandoned
  }

  get isLarge(): boolean {
    return this.#state === 'large'
  }

  get isSliceOver(): boolean {
    const now = performance.now()
    return now - this.#startedAt >= Math.min(this.#sliceMs, maxIterationMs())
  }

  async nextSlice(): Promise<void> {
    await this.#shared.nextSlice(this.#reader.apiKey)
    this.#abandoned?.throwIfAborted()
    this.#startedAt = performance.now()
  }

  readonly pause = async (): Promise<void> => {
    if (this.isSliceOver) await this.nextSlice()
  }

  query<T>(work: () => Promise<T>): Promise<T> {
    if (!this.isSliceOver) return this.#query(work)
    return this.nextSlice().then(() => this.#query(work))
  }

  #query<T>(work: () => Promise<T>): Promise<T> {
    return this.#shared.query(this.#reader.apiKey, async () => {
      this.#abandoned?.throwIfAborted()
      return work()
    })
  }

  enter(): Promise<void> | undefined {
    const waiting = this.#shared.loaded.enter(this.#reader)
    if (waiting) return waiting.then(() => this.#onPlace())
    this.#hasPlace = true
    return undefined
  }

  #onPlace(): void {
    this.#hasPlace = true
    if (!this.#abandoned?.aborted) return
    this.leave()
    this.#abandoned.throwIfAborted()
  }

  leave(): void {
    if (this.#hasPlace) this.#shared.loaded.leave(this.#reader)
    this.#hasPlace = false
  }

  async outside<T>(work: () => Promise<T>): Promise<T> {
    if (!this.#hasPlace) return work()
    const { outside } = this.#shared
    const waiting = outside.enter(this.#reader)
    if (waiting) await waiting
    this.leave()
    let result: T
    try {
      result = await work()
    } finally {
      outside.leave(this.#reader)
    }
    await this.enter()
    return result
  }

  async becomeLarge(): Promise<void> {
    if (this.#state !== 'small') return
    this.leave()
    this.#leaveLarge = await this.#shared.enterLarge(this.#reader)
    this.#state = 'large'
    await this.nextSlice()
  }

  close(): void {
    this.leave()
    this.#leaveLarge?.()
    this.#state = 'ended'
  }
}
