/** A large answer that its client is still taking. */
export interface Answer {
  readonly apiKey: string
  readonly userId: string
  readonly body: Uint8Array
  /** Whether the body is in memory anyway. */
  isHeld(): boolean
  /** Ends the connection; the client finds the content when it connects again. */
  cut(): void
}

export interface AnswerLimits {
  maxKeyBytes: number
  maxServerBytes: number
}

const defaults: AnswerLimits = { maxKeyBytes: 64 * 1024 * 1024, maxServerBytes: 256 * 1024 * 1024 }

/**
 * Large answers on their way to clients, of all connections. Bodies that a room holds anyway cost nothing. What counts is
 * those that are in memory only because a client takes them slowly: differences, and documents that were replaced by a
 * newer state meanwhile.
 */
export class AnswersInFlight {
  readonly #limits: AnswerLimits
  /** The oldest first. */
  readonly #answers = new Set<Answer>()

  constructor(limits: AnswerLimits = defaults) {
    this.#limits = limits
  }

  /** Call the function that it returns when the answer is sent, or its connection closed. */
  add(answer: Answer): () => void {
    this.#answers.add(answer)
    return () => void this.#answers.delete(answer)
  }

  /** Whether a body of its own may be made for a client. */
  hasRoomFor(apiKey: string, bytes: number): boolean {
    const { byKey, total } = this.#count()
    const { maxKeyBytes, maxServerBytes } = this.#limits
    return (byKey.get(apiKey) ?? 0) + bytes <= maxKeyBytes && total + bytes <= maxServerBytes
  }

  /** Called every now and then: cuts the readers of outdated documents that cost more memory than allowed. */
  cutExcess(): void {
    for (;;) {
      const { byKey, total } = this.#count()
      const [apiKey, bytes] = largestOf(byKey)
      if (bytes <= this.#limits.maxKeyBytes && total <= this.#limits.maxServerBytes) return
      const ofKey = [...this.#answers].filter((answer) => answer.apiKey === apiKey && !answer.isHeld())
      const [userId] = largestOf(countBy(ofKey, (answer) => answer.userId))
      const oldest = ofKey.find((answer) => answer.userId === userId)
      if (!oldest) return
      this.#answers.delete(oldest)
      oldest.cut()
    }
  }

  /** Bytes of bodies that only their readers need; each body once. */
  #count(): { byKey: Map<string, number>; total: number } {
    const seen = new Set<Uint8Array>()
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

function countBy<T>(items: readonly T[], key: (item: T) => string): Map<string, number> {
  const counts = new Map<string, number>()
  for (const item of items) counts.set(key(item), (counts.get(key(item)) ?? 0) + 1)
  return counts
}

function largestOf(counts: ReadonlyMap<string, number>): [string | undefined, number] {
  let largest: [string | undefined, number] = [undefined, 0]
  for (const [key, count] of counts) if (count > largest[1]) largest = [key, count]
  return largest
}
