import { isUtf8 } from 'node:buffer'
import { ApiError } from '@plenum/protocol'
import { parse } from 'secure-json-parse'

const invalid = (message: string) => new ApiError('INVALID_ARGUMENT', message)

interface Options {
  /** The header `Content-Encoding`. */
  encoding: string | undefined
  maxDepth: number
}

/**
 * JSON within bounds. Depth is counted on the text, before a parser spends memory or stack on it; keys that would reach
 * a prototype are dropped; of a repeated key the last counts.
 */
export function parseBody(bytes: Buffer, { encoding, maxDepth }: Options): unknown {
  if (bytes.length === 0) return undefined
  if (encoding !== undefined && encoding !== 'identity') throw invalid('Content-Encoding is not supported.')
  if (!isUtf8(bytes)) throw invalid('Request body is not valid UTF-8.')
  const text = bytes.toString()
  if (exceedsDepth(text, maxDepth)) {
    throw invalid(`Request body must not nest deeper than ${maxDepth} levels.`)
  }
  let body: unknown
  try {
    body = parse(text, null, { protoAction: 'remove', constructorAction: 'remove' })
  } catch {
    throw invalid('Request body is not valid JSON.')
  }
  // PostgreSQL cannot store the one, UTF-8 not the other; both databases refuse them alike.
  if (/\\u(?:0000|[dD][89a-fA-F])/.test(text)) refuseUnstorable(body)
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

function refuseUnstorable(value: unknown): void {
  if (typeof value === 'string') {
    if (value.includes('\0')) throw invalid('Strings must not contain the NUL character.')
    if (/\p{Surrogate}/u.test(value)) throw invalid('Strings must not contain unpaired surrogates.')
  } else if (typeof value === 'object' && value !== null) {
    for (const [key, inner] of Object.entries(value)) {
      refuseUnstorable(key)
      refuseUnstorable(inner)
    }
  }
}
