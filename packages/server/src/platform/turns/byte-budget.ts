/** Limits how many bytes all holders together keep in memory. */
export class ByteBudget {
  readonly #maxBytes: number
  /** The bytes of each holder. Undefined until the first holder keeps some: most connections never keep any. */
  #kept: Map<object, number> | undefined
  #bytes = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** Sets how many bytes `holder` keeps. Returns false, and changes nothing, if that would exceed the budget. */
  reserve(holder: object, bytes: number): boolean {
    const total = this.#bytes - (this.#kept?.get(holder) ?? 0) + bytes
    if (total > this.#maxBytes && bytes > 0) return false
    this.#bytes = total
    if (bytes === 0) this.#kept?.delete(holder)
    else (this.#kept ??= new Map()).set(holder, bytes)
    return true
  }
}
