import { hash } from 'node:crypto'

/** A large value of the input, as the bytes that were sent. Only the depth of its JSON has been checked. */
export class UnparsedJson {
  readonly bytes: Uint8Array

  constructor(bytes: Uint8Array) {
    this.bytes = bytes
  }

  /** An empty value of the same kind: string, object or array. */
  get sample(): '' | Record<string, never> | never[] {
    const [first] = this.bytes
    if (first === 0x22) return ''
    return first === 0x7b ? {} : []
  }

  /** A digest in place of the value, for comparing requests. */
  toJSON(): string {
    return hash('sha256', this.bytes, 'base64')
  }
}
