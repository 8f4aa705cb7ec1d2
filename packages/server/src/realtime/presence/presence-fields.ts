import type { PresentPerson } from './present-person.ts'

/** From that size on a message takes no more entries. */
const maxBytes = 64 * 1024

/** The fields of a `presence` message, entry by entry. */
export class PresenceFields {
  readonly #users: string[] = []
  readonly #left: string[] = []
  #bytes = 0

  get bytes(): number {
    return this.#bytes
  }

  get isFull(): boolean {
    return this.#bytes >= maxBytes
  }

  /** The entry as it is shown now, or that there is none any more; gives its size. */
  add(userId: string, person: PresentPerson | undefined): number {
    const { json } = person?.shown ?? {}
    if (json === undefined) this.#left.push(userId)
    else this.#users.push(json)
    const bytes = Buffer.byteLength(json ?? userId)
    this.#bytes += bytes
    return bytes
  }

  toString(): string {
    return `"users":[${this.#users.join()}],"left":${JSON.stringify(this.#left)}`
  }
}
