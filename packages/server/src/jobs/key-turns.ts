import { Limiter } from '../platform/turns/limiter.ts'

interface KeyRun {
  /** Whether the key may have work that no turn has looked for yet. */
  hasWork: boolean
  ended: Promise<void>
}

/**
 * Gives turns to API keys that have work. A key has one turn at a time. After it, the key waits behind the other keys, until a
 * turn finds no more work. So a key with much or slow work delays no other key.
 */
export class KeyTurns {
  readonly #takeTurn: (apiKey: string) => Promise<boolean>
  readonly #limiter: Limiter
  /** The keys that have a turn or wait for one. */
  readonly #runs = new Map<string, KeyRun>()

  /** `takeTurn` does one piece of work of the key. It returns false if there is none, and must not throw. */
  constructor(maxConcurrentKeys: number, takeTurn: (apiKey: string) => Promise<boolean>) {
    this.#limiter = new Limiter(maxConcurrentKeys)
    this.#takeTurn = takeTurn
  }

  /** Call it when the key may have new work. */
  add(apiKey: string): void {
    const known = this.#runs.get(apiKey)
    if (known) known.hasWork = true
    else {
      const run: KeyRun = { hasWork: true, ended: Promise.resolve() }
      this.#runs.set(apiKey, run)
      run.ended = this.#run(apiKey, run)
    }
  }

  /** Resolves when no key has work. */
  async idle(): Promise<void> {
    while (this.#runs.size > 0) await Promise.all([...this.#runs.values()].map(({ ended }) => ended))
  }

  async #run(apiKey: string, run: KeyRun): Promise<void> {
    while (run.hasWork) {
      run.hasWork = false
      const foundWork = await this.#limiter.run(apiKey, () => this.#takeTurn(apiKey))
      run.hasWork ||= foundWork
    }
    this.#runs.delete(apiKey)
  }
}
