import { createHash } from 'node:crypto'
import type { Row } from './row-pages.ts'

const modulus = 1n << 128n

/** The number of rows, and a sum of the hashes of their content: the same for the same rows in any order. */
export class RowsDigest {
  rows = 0
  #sum = 0n

  add(rows: readonly Row[]): void {
    for (const row of rows) this.#sum = (this.#sum + hashOf(row)) % modulus
    this.rows += rows.length
  }

  toString(): string {
    return `${this.rows} ${this.#sum.toString(16)}`
  }
}

/** The row has its columns in alphabetical order. */
function hashOf(row: Row): bigint {
  const hash = createHash('sha256')
  const values = Object.entries(row)
  hash.update(
    JSON.stringify(
      values.map(([name, value]) => [name, value instanceof Uint8Array ? [value.length] : value]),
    ),
  )
  for (const [, value] of values) if (value instanceof Uint8Array) hash.update(value)
  return BigInt(`0x${hash.digest('hex').slice(0, 32)}`)
}
