import { TookTooLong } from './thread.ts'

/** How many contents are remembered; the oldest is dropped. */
const maxContents = 1_000

/** Content that took too long a moment ago: the same work would take as long again. */
export class RestingContents {
  readonly #restMs: number
  /** When each may be tried again; in the order in which they failed. */
  readonly #until = new Map<string, number>()

  constructor(restMs: number) {
    this.#restMs = restMs
  }

  add(content: string, now = performance.now()): void {
    this.#until.delete(content)
    this.#until.set(content, now + this.#restMs)
    for (const oldest of this.#until.keys()) {
      if (this.#until.size <= maxContents) break
      this.#until.delete(oldest)
    }
  }

  /** Why the content is not worked on now; undefined if it is. */
  of(content: string, now = performance.now()): TookTooLong | undefined {
    const until = this.#until.get(content)
    if (until === undefined) return undefined
    if (now < until) {
      const seconds = Math.ceil((until - now) / 1000)
      return new TookTooLong(`The same work took too long. It can be tried again in ${seconds} s.`)
    }
    this.#until.delete(content)
    return undefined
  }
}
