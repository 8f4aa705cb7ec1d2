import { parse } from 'secure-json-parse'

/** The text is no JSON, or it holds strings that cannot be stored. */
export class UnfitJson extends Error {
  override name = 'UnfitJson'
}

/** Parses JSON of a caller. Keys that would reach a prototype are dropped; of a repeated key the last counts. */
export function parseSafely(text: string): unknown {
  let value: unknown
  try {
    value = parse(text, null, { protoAction: 'remove', constructorAction: 'remove' })
  } catch {
    throw new UnfitJson('Request body is not valid JSON.')
  }
  // PostgreSQL cannot store the one, UTF-8 not the other; both databases refuse them alike.
  if (/\\u(?:0000|[dD][89a-fA-F])/.test(text)) refuseUnstorable(value)
  return value
}

function refuseUnstorable(value: unknown): void {
  if (typeof value === 'string') {
    if (value.includes('\0')) throw new UnfitJson('Strings must not contain the NUL character.')
    if (/\p{Surrogate}/u.test(value)) throw new UnfitJson('Strings must not contain unpaired surrogates.')
  } else if (typeof value === 'object' && value !== null) {
    for (const [key, inner] of Object.entries(value)) {
      refuseUnstorable(key)
      refuseUnstorable(inner)
    }
  }
}
