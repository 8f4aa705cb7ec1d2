import { randomUUID } from 'node:crypto'

/** Nobody else knows it, so nothing that others wrote can contain it. */
const placeholder = randomUUID()
let collected: (readonly Uint8Array[])[] | undefined

/** Above this an answer stays in pieces: joining 64 MiB takes 50 ms. */
const maxJoinedBytes = 1024 * 1024

/** A value that is JSON already, in UTF-8, and goes into an answer as it is: large ones are written in a thread or in slices. */
export class WrittenJson {
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
export type Body = string | Buffer | readonly Uint8Array[]

/** JSON of a value that may have written ones inside. */
export function writeJson(value: unknown): Body {
  collected = []
  try {
    const text = JSON.stringify(value)
    if (collected.length === 0) return text
    const [first = '', ...others] = text.split(`"${placeholder}"`)
    const written = collected
    const pieces = others.flatMap((piece, index) => [
      ...(written[index] as readonly Uint8Array[]),
      Buffer.from(piece),
    ])
    const all = [Buffer.from(first), ...pieces]
    return byteLength(all) > maxJoinedBytes ? all : Buffer.concat(all)
  } finally {
    collected = undefined
  }
}

/** JSON of an array that is written slice by slice. */
export class WrittenArray {
  readonly #pieces: Uint8Array[] = []
  #bytes = 0

  get bytes(): number {
    return this.#bytes
  }

  add(items: readonly unknown[]): void {
    if (items.length === 0) return
    const text = bytesOf(writeJson(items))
    this.#bytes += text.length
    // Of each slice without its brackets.
    this.#pieces.push(Buffer.from(this.#pieces.length > 0 ? ',' : '['), text.subarray(1, -1))
  }

  end(): WrittenJson {
    return new WrittenJson(...this.#pieces, Buffer.from(this.#pieces.length > 0 ? ']' : '[]'))
  }
}

/** JSON of an object with arrays, written slice by slice. */
export class WrittenGroups {
  readonly #groups = new Map<string, WrittenArray>()
  bytes = 0

  add(items: readonly (readonly [group: string, item: unknown])[]): void {
    const added = new Map<string, unknown[]>()
    for (const [name, item] of items) {
      const group = added.get(name)
      if (group) group.push(item)
      else added.set(name, [item])
    }
    for (const [name, more] of added) {
      const group = this.#groups.get(name) ?? new WrittenArray()
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

function bytesOf(body: Body): Buffer {
  if (typeof body === 'string') return Buffer.from(body)
  return Buffer.isBuffer(body) ? body : Buffer.concat(body)
}

export const byteLength = (pieces: readonly Uint8Array[]) =>
  pieces.reduce((sum, piece) => sum + piece.length, 0)
