/** A large answer that its client has not read completely. */
export interface UnsentAnswer {
  readonly apiKey: string
  readonly userId: string
  /** The bytes, or an object that stands for them. Answers with the same one share its memory. */
  readonly body: { readonly length: number }
  /** Whether the server keeps the body in memory for another reason too. */
  isHeld(): boolean
  /** Closes the connection. The client gets the content when it reconnects. Without this function the answer is never cut. */
  cut?(): void
}

export interface UnsentAnswerLimits {
  maxBytesPerKey: number
  maxBytes: number
}

const MiB = 1024 * 1024
const defaultLimits: UnsentAnswerLimits = { maxBytesPerKey: 64 * MiB, maxBytes: 256 * MiB }

/**
 * The large answers that clients have not read completely, on sockets and over HTTP. One instance limits their memory for the
 * whole server. A body that a room keeps anyway costs nothing. The limits are for bodies that are in memory only because a
 * client reads slowly: differences, whole documents over HTTP, and documents that a newer state has replaced since.
 */
export class UnsentAnswers {
  readonly #limits: UnsentAnswerLimits
  /** Oldest first. */
  readonly #answers = new Set<UnsentAnswer>()

  constructor(limits: UnsentAnswerLimits = defaultLimits) {
    this.#limits = limits
  }

  /** Returns a function that removes the answer. Call that when the answer has been sent or its connection is closed. */
  add(answer: UnsentAnswer): () => void {
    this.#answers.add(answer)
    return () => void this.#answers.delete(answer)
  }

  /** Whether the limits allow another body of this size. */
  hasSpaceFor(apiKey: string, bytes: number): boolean {
    const { byKey, total } = this.#countBytes()
    const { maxBytesPerKey, maxBytes } = this.#limits
    return (byKey.get(apiKey) ?? 0) + bytes <= maxBytesPerKey && total + bytes <= maxBytes
  }

  /** Whether no unsent bytes of this API key count towards the limits. */
  isEmpty(apiKey: string): boolean {
    return !this.#countBytes().byKey.has(apiKey)
  }

  /** Cuts answers until no limit is exceeded or none can be cut. The gateway calls it at a regular interval. */
  cutExcess(): void {
    for (let next = this.#nextToCut(); next; next = this.#nextToCut()) {
      this.#answers.delete(next)
      next.cut?.()
    }
  }

  /**
   * The answer to cut: the oldest one of the user with the most answers, in the API key with the most bytes. Undefined:
   * none.
   */
  #nextToCut(): UnsentAnswer | undefined {
    const { byKey, total } = this.#countBytes()
    const { maxBytesPerKey, maxBytes } = this.#limits
    const excessive = [...byKey].filter(([, bytes]) => bytes > maxBytesPerKey || total > maxBytes)
    for (const [apiKey] of excessive.sort(([, a], [, b]) => b - a)) {
      const answers = [...this.#answers].filter(
        (answer) => answer.apiKey === apiKey && answer.cut && !answer.isHeld(),
      )
      const userId = mostFrequent(answers.map((answer) => answer.userId))
      const oldest = answers.find((answer) => answer.userId === userId)
      if (oldest) return oldest
    }
    return undefined
  }

  /** Counts the bytes to which the limits apply. A body with several readers counts once. */
  #countBytes(): { byKey: Map<string, number>; total: number } {
    const seen = new Set<UnsentAnswer['body']>()
    const byKey = new Map<string, number>()
    let total = 0
    for (const answer of this.#answers) {
      const { apiKey, body } = answer
      if (seen.has(body) || answer.isHeld()) continue
      seen.add(body)
      byKey.set(apiKey, (byKey.get(apiKey) ?? 0) + body.length)
      total += body.length
    }
    return { byKey, total }
  }
}

function mostFrequent(names: readonly string[]): string | undefined {
  const counts = new Map<string, number>()
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1)
  let most: string | undefined
  for (const [name, count] of counts) if (most === undefined || count > (counts.get(most) ?? 0)) most = name
  return most
}
