import { Gate } from './gate.ts'
import { iterationMs } from './loop-time.ts'
import { LoopTurns } from './loop-turns.ts'

/** Long enough to get something done, short enough that nobody notices it. */
const sliceMs = 5
/** Each may keep an answer of 64 MiB in memory until the client has read it. */
const maxLargePerKey = 2

export interface LongReadLimits {
  sliceMs?: number
  maxLargePerKey?: number
  /** Queries that a database answers at a time which does not answer at once: what it sends may come in one iteration. */
  maxQueries?: number
}

/** A read that may take long, divided into slices. */
export interface LongRead {
  /** Whether this slice has lasted long enough. */
  readonly isDue: boolean
  /** Waits for the next slice. */
  next(): Promise<void>
  /** The same, if this one has lasted long enough. */
  readonly pause: () => Promise<void>
  /** Does a query when this slice has time for it, and few others are under way. */
  query<T>(work: () => Promise<T>): Promise<T>
  /** Waits until few large answers of the same key are left; does nothing if called again. */
  becomeLarge(): Promise<void>
  /** Whether others of the key may wait for its end. */
  readonly isLarge: boolean
  /** The answer is sent, or there is none. */
  end(): void
}

interface Key {
  running: number
  waiting: (() => void)[]
}

/**
 * Lets long reads share the event loop with everything else: in one iteration of it one slice runs, however many reads there
 * are, key by key in turn. A read that fits into its first slice waits for nobody.
 */
export class LongReads {
  readonly #sliceMs: number
  readonly #maxLargePerKey: number
  readonly #keys = new Map<string, Key>()
  readonly #slices = new LoopTurns()
  readonly #queries: Gate | undefined
  readonly #shared: Shared = {
    turn: (key) => this.#slices.wait(key),
    query: (key, work) => (this.#queries ? this.#queries.pass(key, work) : work()),
    enter: (key) => this.#enter(key),
    leave: (key) => this.#leave(key),
  }

  constructor(limits: LongReadLimits = {}) {
    this.#sliceMs = limits.sliceMs ?? sliceMs
    this.#maxLargePerKey = limits.maxLargePerKey ?? maxLargePerKey
    if (limits.maxQueries !== undefined) this.#queries = new Gate(limits.maxQueries)
  }

  /** A query before it is known whether the read takes long. */
  query<T>(key: string, work: () => Promise<T>): Promise<T> {
    return this.#shared.query(key, work)
  }

  begin(key: string): LongRead {
    return new SlicedRead(this.#sliceMs, key, this.#shared)
  }

  async #enter(name: string): Promise<void> {
    const key = this.#keys.get(name) ?? { running: 0, waiting: [] }
    this.#keys.set(name, key)
    if (key.running >= this.#maxLargePerKey) await new Promise<void>((resolve) => key.waiting.push(resolve))
    else key.running++
  }

  #leave(name: string): void {
    const key = this.#keys.get(name)
    if (!key) return
    const next = key.waiting.shift()
    // Its place goes to the next one.
    if (next) next()
    else if (--key.running === 0) this.#keys.delete(name)
  }
}

/** What all reads share. */
interface Shared {
  turn(key: string): Promise<void>
  query<T>(key: string, work: () => Promise<T>): Promise<T>
  enter(key: string): Promise<void>
  leave(key: string): void
}

class SlicedRead implements LongRead {
  readonly #sliceMs: number
  readonly #key: string
  readonly #shared: Shared
  #startedAt = performance.now()
  #state: 'small' | 'large' | 'ended' = 'small'

  constructor(sliceMs: number, key: string, shared: Shared) {
    this.#sliceMs = sliceMs
    this.#key = key
    this.#shared = shared
  }

  get isLarge(): boolean {
    return this.#state === 'large'
  }

  get isDue(): boolean {
    const now = performance.now()
    return now - this.#startedAt >= Math.min(this.#sliceMs, iterationMs())
  }

  async next(): Promise<void> {
    await this.#shared.turn(this.#key)
    this.#startedAt = performance.now()
  }

  readonly pause = async (): Promise<void> => {
    if (this.isDue) await this.next()
  }

  query<T>(work: () => Promise<T>): Promise<T> {
    if (!this.isDue) return this.#shared.query(this.#key, work)
    return this.next().then(() => this.#shared.query(this.#key, work))
  }

  async becomeLarge(): Promise<void> {
    if (this.#state !== 'small') return
    await this.#shared.enter(this.#key)
    this.#state = 'large'
    await this.next()
  }

  end(): void {
    if (this.#state === 'large') this.#shared.leave(this.#key)
    this.#state = 'ended'
  }
}
