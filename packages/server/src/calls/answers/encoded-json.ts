import { randomUUID } from 'node:crypto'

/** Stands for an `EncodedJson` while the value around it is encoded. It is random and never sent, so no caller can send it. */
const placeholder = randomUUID()
/** While `encodeJson` runs: the pieces of each `EncodedJson`, in the order of their placeholders. */
let collected: (readonly Uint8Array[])[] | undefined

/** A larger answer stays in pieces: joining 64 MiB takes 50 ms. */
const maxJoinedBytes = 1024 * 1024

/**
 * A value that is already encoded as JSON in UTF-8; an answer contains it unchanged. Large values are encoded before the
 * answer is, in a thread or in slices.
 */
export class EncodedJson {
  readonly #pieces: readonly Uint8Array[]

  constructor(...pieces: readonly Uint8Array[]) {
    this.#pieces = pieces
  }

  toJSON(): unknown {
    if (!collected) return JSON.parse(Buffer.concat(this.#pieces).toString())
    collected.push(this.#pieces)
    return placeholder
  }
}

/** JSON as text, as bytes, or as bytes in several pieces. */
export type JsonBody = string | Buffer | readonly Uint8Array[]

/** Encodes a value that may contain `EncodedJson`. */
export function encodeJson(value: unknown): JsonBody {
  collected = []
  try {
    const text = JSON.stringify(value)
    if (collected.length === 0) return text
    const [first = '', ...others] = text.split(`"${placeholder}"`)
    const encoded = collected
    const pieces = others.flatMap((piece, index) => [
      ...(encoded[index] as readonly Uint8Array[]),
      Buffer.from(piece),
    ])
    const all = [Buffer.from(first), ...pieces]
    return byteLength(all) > maxJoinedBytes ? all : Buffer.concat(all)
  } finally {
    collected = undefined
  }
}

/** Encodes an array slice by slice. */
export class JsonArrayEncoder {
  readonly #pieces: Uint8Array[] = []
  #bytes = 0

  get bytes(): number {
    return this.#bytes
  }

  add(items: readonly unknown[]): void {
    if (items.length === 0) return
    const body = joinedBody(encodeJson(items))
    const text = typeof body === 'string' ? Buffer.from(body) : body
    this.#bytes += text.length
    // Each slice is encoded as an array of its own; its brackets are left out.
    this.#pieces.push(Buffer.from(this.#pieces.length > 0 ? ',' : '['), text.subarray(1, -1))
  }

  end(): EncodedJson {
    return new EncodedJson(...this.#pieces, Buffer.from(this.#pieces.length > 0 ? ']' : '[]'))
  }
}

/** Encodes an object of arrays slice by slice. */
export class JsonGroupsEncoder {
  readonly #groups = new Map<string, JsonArrayEncoder>()
  bytes = 0

  add(items: readonly (readonly [group: string, item: unknown])[]): void {
    const added = new Map<string, unknown[]>()
    for (const [name, item] of items) {
      const group = added.get(name)
      if (group) group.push(item)
      else added.set(name, [item])
    }
    for (const [name, more] of added) {
      const group = this.#groups.get(name) ?? new JsonArrayEncoder()
      this.#groups.set(name, group)
      this.bytes -= group.bytes
      group.add(more)
      this.bytes += group.bytes
    }
  }

  end(): Record<string, unknown> {
    return Object.fromEntries(Array.from(this.#groups, ([name, group]) => [name, group.end()]))
  }
}

/** Joins a body that is in several pieces. */
export const joinedBody = (body: JsonBody): string | Buffer =>
  typeof body === 'string' || Buffer.isBuffer(body) ? body : Buffer.concat(body)

export const byteLength = (pieces: readonly Uint8Array[]) =>
  pieces.reduce((sum, piece) => sum + piece.length, 0)
