/** Divides a number of bytes between those who keep something. */
export class ByteBudget {
  readonly #maxBytes: number
  readonly #kept = new Map<object, number>()
  #bytes = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** Sets how many bytes `keeper` holds; false, and nothing changes, if that is over the budget. */
  keep(keeper: object, bytes: number): boolean {
    const total = this.#bytes - (this.#kept.get(keeper) ?? 0) + bytes
    if (total > this.#maxBytes && bytes > 0) return false
    this.#bytes = total
    if (bytes === 0) this.#kept.delete(keeper)
    else this.#kept.set(keeper, bytes)
    return true
  }
}
