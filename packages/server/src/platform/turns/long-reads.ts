import { Limiter, LaneLimiters } from './limiter.ts'
import { maxIterationMs } from './loop-time.ts'
import { StartQueue } from './start-queue.ts'

/** Long enough to make progress, short enough not to delay other work. */
const defaultSliceMs = 5
/** Per API key: each large answer may hold 64 MiB in memory until the client has read it. */
const defaultMaxLargePerKey = 2

/** A query of up to this many rows is short, whatever the rows contain. */
const fewRows = 4

export interface LongReadLimits {
  sliceMs?: number
  maxLargePerKey?: number
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
   * Call it when the answer has become large. Waits until fewer than `maxLargePerKey` large answers of the API key are
   * open. Calling it again has no effect.
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
  readonly #large: LaneLimiters
  readonly #queries: Limiter | undefined
  readonly #shared: Shared = {
    nextSlice: (apiKey) => this.#slices.wait(apiKey),
    query: (apiKey, work) => (this.#queries ? this.#queries.run(apiKey, work) : work()),
    enterLarge: (apiKey) => this.#large.enter(apiKey),
  }

  constructor(limits: LongReadLimits = {}) {
    this.#sliceMs = limits.sliceMs ?? defaultSliceMs
    this.#large = new LaneLimiters(limits.maxLargePerKey ?? defaultMaxLargePerKey)
    if (limits.maxQueries !== undefined) this.#queries = new Limiter(limits.maxQueries)
  }

  /**
   * Runs the first query of a read, when it is not yet known whether the read takes long. A query of a few rows does not wait
   * for others.
   */
  query<T>(apiKey: string, work: () => Promise<T>, maxRows = Infinity): Promise<T> {
    return maxRows <= fewRows ? work() : this.#shared.query(apiKey, work)
  }

  open(apiKey: string): LongRead {
    return new SlicedRead(this.#sliceMs, apiKey, this.#shared)
  }
}

/** The queues and limits that all reads share. */
interface Shared {
  nextSlice(apiKey: string): Promise<void>
  query<T>(apiKey: string, work: () => Promise<T>): Promise<T>
  enterLarge(apiKey: string): Promise<() => void>
}

class SlicedRead implements LongRead {
  readonly #sliceMs: number
  readonly #apiKey: string
  readonly #shared: Shared
  #startedAt = performance.now()
  #state: 'small' | 'large' | 'ended' = 'small'
  #leaveLarge: (() => void) | undefined

  constructor(sliceMs: number, apiKey: string, shared: Shared) {
    this.#sliceMs = sliceMs
    this.#apiKey = apiKey
    this.#shared = shared
  }

  get isLarge(): boolean {
    return this.#state === 'large'
  }

  get isSliceOver(): boolean {
    const now = performance.now()
    return now - this.#startedAt >= Math.min(this.#sliceMs, maxIterationMs())
  }

  async nextSlice(): Promise<void> {
    await this.#shared.nextSlice(this.#apiKey)
    this.#startedAt = performance.now()
  }

  readonly pause = async (): Promise<void> => {
    if (this.isSliceOver) await this.nextSlice()
  }

  query<T>(work: () => Promise<T>): Promise<T> {
    if (!this.isSliceOver) return this.#shared.query(this.#apiKey, work)
    return this.nextSlice().then(() => this.#shared.query(this.#apiKey, work))
  }

  async becomeLarge(): Promise<void> {
    if (this.#state !== 'small') return
    this.#leaveLarge = await this.#shared.enterLarge(this.#apiKey)
    this.#state = 'large'
    await this.nextSlice()
  }

  close(): void {
    this.#leaveLarge?.()
    this.#state = 'ended'
  }
}
