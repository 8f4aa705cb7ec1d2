export interface JsonLimits {
  /** Arrays and objects inside each other. */
  depth: number
  keys?: number
  /** Strings that are not keys, arrays and objects. Numbers and words are free. */
  values?: number
}

/** The bytes are not JSON that may be read. */
export class InvalidJson extends Error {
  override name = 'InvalidJson'
  readonly code: 'malformed' | 'too_large' | 'forbidden'
  /** The byte at which it was noticed. */
  readonly at: number
  /** The limit that is exceeded, for `too_large`. */
  readonly limit: keyof JsonLimits | undefined

  constructor(code: InvalidJson['code'], message: string, at: number, limit?: keyof JsonLimits) {
    super(message)
    this.code = code
    this.at = at
    this.limit = limit
  }
}
