export interface JsonLimits {
  /** How many arrays and objects may be inside each other. */
  depth: number
  keys?: number
  /** Arrays, objects, and strings that are not keys. Numbers, booleans and null are not counted. */
  values?: number
}

/** Thrown if bytes are not JSON, exceed a limit or contain a forbidden key. */
export class InvalidJson extends Error {
  override name = 'InvalidJson'
  readonly code: 'malformed' | 'too_large' | 'forbidden'
  /** The index of the byte at which the fault was found. */
  readonly at: number
  /** If the code is `too_large`: the limit that is exceeded. */
  readonly limit: keyof JsonLimits | undefined

  constructor(code: InvalidJson['code'], message: string, at: number, limit?: keyof JsonLimits) {
    super(message)
    this.code = code
    this.at = at
    this.limit = limit
  }
}
