import { randomUUID } from 'node:crypto'

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
