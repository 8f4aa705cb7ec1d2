import { randomUUID } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'

/** Nobody else knows it, so nothing that others wrote can contain it. */
const placeholder = randomUUID()
let collected: Uint8Array[] | undefined

/** A value that is JSON already, in UTF-8, and goes into an answer as it is: large ones are written in a thread. */
export class WrittenJson {
  readonly #bytes: Uint8Array

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  toJSON(): unknown {
    if (!collected) return JSON.parse(Buffer.from(this.#bytes).toString())
    collected.push(this.#bytes)
    return placeholder
  }
}

/** JSON of a value that may have written ones inside. */
export function writeJson(value: unknown): string | Buffer {
  collected = []
  try {
    const text = JSON.stringify(value)
    if (collected.length === 0) return text
    const [first = '', ...others] = text.split(`"${placeholder}"`)
    const written = collected
    const pieces = others.flatMap((piece, index) => [written[index] as Uint8Array, Buffer.from(piece)])
    return Buffer.concat([Buffer.from(first), ...pieces])
  } finally {
    collected = undefined
  }
}

/** Items of an array that are written in one go. */
const itemsAtOnce = 500

/** JSON of an array, written in slices between which other requests run. */
export async function writeArray(items: readonly unknown[]): Promise<WrittenJson> {
  const pieces: Uint8Array[] = []
  for (let from = 0; from < items.length; from += itemsAtOnce) {
    if (from > 0) await setImmediate()
    const text = Buffer.from(writeJson(items.slice(from, from + itemsAtOnce)))
    // Of each slice without its brackets.
    pieces.push(Buffer.from(from > 0 ? ',' : '['), text.subarray(1, -1))
  }
  return new WrittenJson(Buffer.concat([...pieces, Buffer.from(']')]))
}

/** Whether it is worth it. */
export const isLongArray = (value: unknown): value is readonly unknown[] =>
  Array.isArray(value) && value.length > itemsAtOnce
