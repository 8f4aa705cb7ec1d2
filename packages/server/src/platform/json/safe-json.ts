import { parse } from 'secure-json-parse'

export const notJson = 'Request body is not valid JSON.'

/** Thrown if a text is not JSON, or has strings that the databases cannot store. */
export class UnfitJson extends Error {
  override name = 'UnfitJson'
}

/** Parses JSON that a caller sent. Drops keys that would reach a prototype. If a key is repeated, its last value applies. */
export function parseSafely(text: string): unknown {
  let value: unknown
  try {
    value = parse(text, null, { protoAction: 'remove', constructorAction: 'remove' })
  } catch {
    throw new UnfitJson(notJson)
  }
  // PostgreSQL cannot store NUL, and UTF-8 has no unpaired surrogates. Both are refused for SQLite too.
  if (/\\u(?:0000|[dD][89a-fA-F])/.test(text)) refuseUnstorable(value)
  return value
}

/** Returns why a text cannot be stored, or undefined if it can. The rules are the same for both databases. */
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
