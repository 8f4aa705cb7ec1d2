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

/** Why neither database is given that text to store, if so. */
export function textFault(text: string): string | undefined {
  if (text.includes('\0')) return 'must not contain the NUL character.'
  return /\p{Surrogate}/u.test(text) ? 'must not contain unpaired surrogates.' : undefined
}

function refuseUnstorable(value: unknown): void {
  if (typeof value === 'string') {
    const fault = textFault(value)
    if (fault) throw new UnfitJson(`Strings ${fault}`)
  } else if (typeof value === 'object' && value !== null) {
    for (const [key, inner] of Object.entries(value)) {
      refuseUnstorable(key)
      refuseUnstorable(inner)
    }
  }
}
