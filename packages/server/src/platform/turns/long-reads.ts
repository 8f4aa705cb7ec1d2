import { Limiter, LaneLimiters } from './limiter.ts'
import { maxIterationMs } from './loop-time.ts'
import { StartQueue } from './start-queue.ts'

/** Long enough to make progress, short enough not to delay other work. */
const defaultSliceMs = 5
/** Each may hold an answer of 64 MiB in memory until the client has read it. */
const defaultMaxLargePerKey = 2

export interface LongReadLimits {
  sliceMs?: number
  maxLargePerKey?: number
  /** Concurrent queries on a database that answers asynchronously: all answers may arrive in one iteration. Default: no limit. */
  maxQueries?: number
}

/** A read that may take long, run in slices. */
export interface LongRead {
  /** Whether the time of this slice is over. */
  readonly isSliceOver: boolean
  /** Waits for the next slice. */
  nextSlice(): Promise<void>
  /** Waits for the next slice if the time of this one is over. */
  readonly pause: () => Promise<void>
  /** Runs a query once this slice has time for it and fewer than `maxQueries` run. */
  query<T>(work: () => Promise<T>): Promise<T>
  /** Waits until fewer than `maxLargePerKey` large answers of the same key are open. Has no effect when called again. */
  becomeLarge(): Promise<void>
  /** Whether it is one of the large answers of its key, for which others may wait. */
  readonly isLarge: boolean
  /** Call it when the answer is sent, or when there is none. */
  close(): void
}

/**
 * Lets long reads share the event loop with other work: one slice runs in each iteration, whatever the number of reads.
 * Keys take turns. A read that fits into its first slice does not wait.
 */
export class LongReads {
  readonly #sliceMs: number
  readonly #slices = new StartQueue()
  readonly #large: LaneLimiters
  readonly #queries: Limiter | undefined
  readonly #shared: Shared = {
    nextSlice: (key) => this.#slices.wait(key),
    query: (key, work) => (this.#queries ? this.#queries.run(key, work) : work()),
    enterLarge: (key) => this.#large.enter(key),
  }

  constructor(limits: LongReadLimits = {}) {
    this.#sliceMs = limits.sliceMs ?? defaultSliceMs
    this.#large = new LaneLimiters(limits.maxLargePerKey ?? defaultMaxLargePerKey)
    if (limits.maxQueries !== undefined) this.#queries = new Limiter(limits.maxQueries)
  }

  /** Runs a query before it is known whether the read takes long. */
  query<T>(key: string, work: () => Promise<T>): Promise<T> {
    return this.#shared.query(key, work)
  }

  open(key: string): LongRead {
    return new SlicedRead(this.#sliceMs, key, this.#shared)
  }
}

/** What all reads share. */
interface Shared {
  nextSlice(key: string): Promise<void>
  query<T>(key: string, work: () => Promise<T>): Promise<T>
  enterLarge(key: string): Promise<() => void>
}

class SlicedRead implements LongRead {
  readonly #sliceMs: number
  readonly #key: string
  readonly #shared: Shared
  #startedAt = performance.now()
  #state: 'small' | 'large' | 'ended' = 'small'
  #leaveLarge: (() => void) | undefined

  constructor(sliceMs: number, key: string, shared: Shared) {
    this.#sliceMs = sliceMs
    this.#key = key
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
    await this.#shared.nextSlice(this.#key)
    this.#startedAt = performance.now()
  }

  readonly pause = async (): Promise<void> => {
    if (this.isSliceOver) await this.nextSlice()
  }

  query<T>(work: () => Promise<T>): Promise<T> {
    if (!this.isSliceOver) return this.#shared.query(this.#key, work)
    return this.nextSlice().then(() => this.#shared.query(this.#key, work))
  }

  async becomeLarge(): Promise<void> {
    if (this.#state !== 'small') return
    this.#leaveLarge = await this.#shared.enterLarge(this.#key)
    this.#state = 'large'
    await this.nextSlice()
  }

  close(): void {
    this.#leaveLarge?.()
    this.#state = 'ended'
  }
}
