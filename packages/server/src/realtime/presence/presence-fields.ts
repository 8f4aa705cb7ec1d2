import type { PresentPerson } from './present-person.ts'

/** No more entries are added to a message of this size. */
const maxBytes = 64 * 1024

/** Collects the fields of a `presence` message, entry by entry. */
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

  /** Adds the current entry of the user or, without an entry, that the user has left. Returns the added bytes. */
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
