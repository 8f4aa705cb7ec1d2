import { hash } from 'node:crypto'

/**
 * A large value of the input, as the bytes that the caller sent. Only its structure and depth have been checked, not its
 * strings.
 */
export class UnparsedJson {
  readonly bytes: Uint8Array

  constructor(bytes: Uint8Array) {
    this.bytes = bytes
  }

  /** An empty string, object or array: whichever kind of value this is. */
  get sample(): '' | Record<string, never> | never[] {
    const [first] = this.bytes
    if (first === 0x22) return ''
    return first === 0x7b ? {} : []
  }

  /** A digest instead of the value: `JSON.stringify` of an input is used only to compare requests. */
  toJSON(): string {
    return hash('sha256', this.bytes, 'base64')
  }
}
