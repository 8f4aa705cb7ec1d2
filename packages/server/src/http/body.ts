import { ApiError } from '@plenum/protocol'
import { parse } from 'secure-json-parse'

const invalidJson = () => new ApiError('INVALID_ARGUMENT', 'Request body is not valid JSON.')

/**
 * JSON within bounds. Depth is counted on the text, before a parser spends memory or stack on it; keys that would reach
 * a prototype are dropped; of a repeated key the last counts.
 */
export function parseBody(text: string, maxDepth: number): unknown {
  if (text.length === 0) return undefined
  if (exceedsDepth(text, maxDepth)) {
    throw new ApiError('INVALID_ARGUMENT', `Request body must not nest deeper than ${maxDepth} levels.`)
  }
  let body: unknown
  try {
    body = parse(text, null, { protoAction: 'remove', constructorAction: 'remove' })
  } catch {
    throw invalidJson()
  }
  // PostgreSQL cannot store the character; both databases refuse it alike.
  if (text.includes('\\u0000') && holdsNul(body)) {
    throw new ApiError('INVALID_ARGUMENT', 'Strings must not contain the NUL character.')
  }
  return body
}

const quote = 0x22
const backslash = 0x5c

function exceedsDepth(text: string, maxDepth: number): boolean {
  // A text with fewer brackets than levels cannot nest too deep.
  if (text.length <= maxDepth) return false
  let depth = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === quote) {
      for (at++; at < text.length; at++) {
        const inside = text.charCodeAt(at)
        if (inside === backslash) at++
        else if (inside === quote) break
      }
    } else if (code === 0x7b || code === 0x5b) {
      if (++depth > maxDepth) return true
    } else if (code === 0x7d || code === 0x5d) depth--
  }
  return false
}

function holdsNul(value: unknown): boolean {
  if (typeof value === 'string') return value.includes('\0')
  if (typeof value !== 'object' || value === null) return false
  return Object.entries(value).some(([key, inner]) => key.includes('\0') || holdsNul(inner))
}
