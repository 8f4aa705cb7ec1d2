interface Question {
  version: number
  /** The updates with smaller numbers came before it. */
  before: number
}

/**
 * Decides when a client's version is durable: when every update that came before the client's question is, and what the
 * client had before it connected. That comes with its answer to the server's first question. An update that was refused is
 * missing until an answer, which holds everything that the server lacks, is saved.
 */
export class SyncStatus {
  #next = 0
  /** Updates by number, in order, and whether each is an answer. */
  readonly #unsettled = new Map<number, boolean>()
  /** Everything up to this number may be missing until an answer with a larger one is saved. */
  #missingUpTo: number | undefined = -1
  #question: Question | undefined

  /** The number of an update that came. */
  add(isAnswer: boolean): number {
    const number = this.#next++
    this.#unsettled.set(number, isAnswer)
    return number
  }

  /** Only the newest question counts: its answer speaks for those before. */
  ask(version: number): void {
    this.#question = { version, before: this.#next }
  }

  saved(number: number): void {
    const isAnswer = this.#unsettled.get(number)
    this.#unsettled.delete(number)
    if (isAnswer && this.#missingUpTo !== undefined && number > this.#missingUpTo)
      this.#missingUpTo = undefined
  }

  refused(number: number): void {
    this.#unsettled.delete(number)
    this.#missingUpTo = Math.max(this.#missingUpTo ?? -1, number)
  }

  /** The version of the question, once, as soon as it is durable. */
  takeDurable(): number | undefined {
    const { version, before } = this.#question ?? { version: undefined, before: 0 }
    const [oldest = Infinity] = this.#unsettled.keys()
    if (version === undefined || this.#missingUpTo !== undefined || oldest < before) return undefined
    this.#question = undefined
    return version
  }
}
