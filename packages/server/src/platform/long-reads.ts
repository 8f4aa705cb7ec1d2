import { LoopTurns } from './loop-turns.ts'

/** Long enough to get something done, short enough that nobody notices it. */
const sliceMs = 5
/** Each may keep an answer of 64 MiB in memory until the client has read it. */
const maxLargePerKey = 2

export interface LongReadLimits {
  sliceMs?: number
  maxLargePerKey?: number
}

/** A read that may take long, divided into slices. */
export interface LongRead {
  /** Whether this slice has lasted long enough. */
  readonly isDue: boolean
  /** Waits for the next slice. */
  next(): Promise<void>
  /** The same, if this one has lasted long enough. */
  readonly pause: () => Promise<void>
  /** Waits until few large answers of the same key are left; does nothing if called again. */
  becomeLarge(): Promise<void>
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

  constructor(limits: LongReadLimits = {}) {
    this.#sliceMs = limits.sliceMs ?? sliceMs
    this.#maxLargePerKey = limits.maxLargePerKey ?? maxLargePerKey
  }

  begin(key: string): LongRead {
    return new SlicedRead(
      this.#sliceMs,
      () => this.#slices.wait(key),
      () => this.#enter(key),
      () => this.#leave(key),
    )
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

class SlicedRead implements LongRead {
  readonly #sliceMs: number
  readonly #turn: () => Promise<void>
  readonly #enter: () => Promise<void>
  readonly #leave: () => void
  #startedAt = performance.now()
  #state: 'small' | 'large' | 'ended' = 'small'

  constructor(sliceMs: number, turn: () => Promise<void>, enter: () => Promise<void>, leave: () => void) {
    this.#sliceMs = sliceMs
    this.#turn = turn
    this.#enter = enter
    this.#leave = leave
  }

  get isDue(): boolean {
    return performance.now() - this.#startedAt >= this.#sliceMs
  }

  async next(): Promise<void> {
    await this.#turn()
    this.#startedAt = performance.now()
  }

  readonly pause = async (): Promise<void> => {
    if (this.isDue) await this.next()
  }

  async becomeLarge(): Promise<void> {
    if (this.#state !== 'small') return
    await this.#enter()
    this.#state = 'large'
    await this.next()
  }

  end(): void {
    if (this.#state === 'large') this.#leave()
    this.#state = 'ended'
  }
}
