import type { Clock } from '../platform/clock.ts'
import type { Db } from '../store/engine/db.ts'

/** Another server may have changed the settings, so they are read again after this time. */
const maxAgeMs = 1_000
/** Above this many API keys, all are read again. */
const maxKnownKeys = 10_000

interface Known {
  wants: boolean
  until: number
}

/** Returns those of the API keys that want events about changed editors. */
export type LoadKeys = (db: Db, apiKeys: readonly string[]) => Promise<ReadonlySet<string>>

/**
 * Knows which API keys want events about changed editors. Every update of every editor asks, so the answers are cached: an API
 * key that wants none costs one query in a second in which its users type.
 */
export class EditorEventSettings {
  readonly #load: LoadKeys
  readonly #clock: Pick<Clock, 'elapsed'>
  readonly #known = new Map<string, Known>()
  #drops = 0

  constructor(load: LoadKeys, clock: Pick<Clock, 'elapsed'>) {
    this.#load = load
    this.#clock = clock
  }

  /** Those of the API keys that want the events. Reads what is not known with `db`, so it may be called in a transaction. */
  readonly wantedBy: LoadKeys = async (db, apiKeys) => {
    const now = this.#clock.elapsed()
    const wanting = new Set<string>()
    const unknown = new Set<string>()
    for (const apiKey of apiKeys) {
      const known = this.#known.get(apiKey)
      if (!known || known.until <= now) unknown.add(apiKey)
      else if (known.wants) wanting.add(apiKey)
    }
    if (unknown.size > 0) for (const apiKey of await this.#read(db, [...unknown], now)) wanting.add(apiKey)
    return wanting
  }

  /** Call it when the settings of the API key have changed. */
  drop(apiKey: string): void {
    this.#drops++
    this.#known.delete(apiKey)
  }

  async #read(db: Db, apiKeys: readonly string[], now: number): Promise<ReadonlySet<string>> {
    const drops = this.#drops
    const wanting = await this.#load(db, apiKeys)
    // What was read before a change must not be remembered after it.
    if (drops !== this.#drops) return wanting
    if (this.#known.size > maxKnownKeys) this.#known.clear()
    for (const apiKey of apiKeys)
      this.#known.set(apiKey, { wants: wanting.has(apiKey), until: now + maxAgeMs })
    return wanting
  }
}
