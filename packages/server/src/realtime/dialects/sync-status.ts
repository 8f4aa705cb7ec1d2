interface StatusRequest {
  /** A number that the client chose. */
  version: number
  /** All updates with smaller numbers arrived before the request. */
  before: number
}

/**
 * Decides when a version that a Y-Sweet client asks about is durable. For this, all updates that arrived before the request
 * must be durable, and also the changes that the client made before it connected. The client sends these in a sync step 2,
 * which contains everything that the server lacks. So a refused update is missing until a later sync step 2 is saved.
 */
export class SyncStatus {
  #next = 0
  /** Updates that are neither saved nor refused, in order: number → whether the update is a sync step 2. */
  readonly #pending = new Map<number, boolean>()
  /** Updates up to this number may be missing until a sync step 2 with a larger number is saved. Undefined: none is missing. */
  #missingUpTo: number | undefined = -1
  #request: StatusRequest | undefined

  /** Call it when an update arrives. Returns the number of the update. */
  add(isStep2: boolean): number {
    const number = this.#next++
    this.#pending.set(number, isStep2)
    return number
  }

  /** The newest request replaces earlier requests, because its answer covers them. */
  request(version: number): void {
    this.#request = { version, before: this.#next }
  }

  onSaved(number: number): void {
    const isStep2 = this.#pending.get(number)
    this.#pending.delete(number)
    if (isStep2 && this.#missingUpTo !== undefined && number > this.#missingUpTo)
      this.#missingUpTo = undefined
  }

  onRefused(number: number): void {
    this.#pending.delete(number)
    this.#missingUpTo = Math.max(this.#missingUpTo ?? -1, number)
  }

  /** Returns the requested version if it is durable and was not returned before. */
  takeDurable(): number | undefined {
    const { version, before } = this.#request ?? { version: undefined, before: 0 }
    const [oldest = Infinity] = this.#pending.keys()
    if (version === undefined || this.#missingUpTo !== undefined || oldest < before) return undefined
    this.#request = undefined
    return version
  }
}
