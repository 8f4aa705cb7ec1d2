interface StatusRequest {
  version: number
  /** The updates with smaller numbers arrived before the request. */
  before: number
}

/**
 * Decides when a version of a Y-Sweet client is durable: when every update that arrived before the request is durable, and
 * also what the client had before it connected. The client sends the latter in its answer to the server's first sync step
 * 1. A refused update is missing until such an answer, which holds everything that the server lacks, is saved.
 */
export class SyncStatus {
  #next = 0
  /** Updates that are neither saved nor refused, in order: number → whether the update is an answer. */
  readonly #pending = new Map<number, boolean>()
  /** Updates up to this number may be missing until an answer with a larger number is saved. */
  #missingUpTo: number | undefined = -1
  #request: StatusRequest | undefined

  /** Returns the number of an update that arrived. */
  add(isAnswer: boolean): number {
    const number = this.#next++
    this.#pending.set(number, isAnswer)
    return number
  }

  /** The newest request replaces earlier ones, because its answer covers them. */
  request(version: number): void {
    this.#request = { version, before: this.#next }
  }

  onSaved(number: number): void {
    const isAnswer = this.#pending.get(number)
    this.#pending.delete(number)
    if (isAnswer && this.#missingUpTo !== undefined && number > this.#missingUpTo)
      this.#missingUpTo = undefined
  }

  onRefused(number: number): void {
    this.#pending.delete(number)
    this.#missingUpTo = Math.max(this.#missingUpTo ?? -1, number)
  }

  /** Returns the requested version once, as soon as it is durable. */
  takeDurable(): number | undefined {
    const { version, before } = this.#request ?? { version: undefined, before: 0 }
    const [oldest = Infinity] = this.#pending.keys()
    if (version === undefined || this.#missingUpTo !== undefined || oldest < before) return undefined
    this.#request = undefined
    return version
  }
}
