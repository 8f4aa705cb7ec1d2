import { isUtf8 } from 'node:buffer'
import { ApiError } from '@plenum/protocol'
import { parse } from 'secure-json-parse'

const invalid = (message: string) => new ApiError('INVALID_ARGUMENT', message)

interface Options {
  /** The header `Content-Encoding`. */
  encoding: string | undefined
  maxDepth: number
  maxKeys: number
}

/**
 * JSON within bounds. Depth and keys are counted on the text, before a parser spends memory or stack on it; keys that would reach
 * a prototype are dropped; of a repeated key the last counts.
 */
export function parseBody(bytes: Buffer, { encoding, maxDepth, maxKeys }: Options): unknown {
  if (bytes.length === 0) return undefined
  if (encoding !== undefined && encoding !== 'identity') throw invalid('Content-Encoding is not supported.')
  if (!isUtf8(bytes)) throw invalid('Request body is not valid UTF-8.')
  const text = bytes.toString()
  const { depth, keys } = measure(text)
  if (depth > maxDepth) throw invalid(`Request body must not nest deeper than ${maxDepth} levels.`)
  if (keys > maxKeys) throw invalid(`Request body must not have more than ${maxKeys} keys.`)
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
const colon = 0x3a

/** How deep the text nests and how many keys it has, if it is JSON at all. */
function measure(text: string): { depth: number; keys: number } {
  let open = 0
  let depth = 0
  let keys = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === quote) at = endOfString(text, at)
    else if (code === colon) keys++
    else if (code === 0x7b || code === 0x5b) depth = Math.max(depth, ++open)
    else if (code === 0x7d || code === 0x5d) open--
  }
  return { depth, keys }
}

/** How many letters in a row are looked at one by one, before a search for the next quote is faster. */
const fewLetters = 64

/** Where the string that begins there ends. Letter by letter, 10 MiB would take 60 ms. */
function endOfString(text: string, start: number): number {
  let letters = 0
  for (let at = start + 1; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === quote) return at
    if (code === backslash) {
      at++
      letters = 0
    } else if (++letters === fewLetters) {
      const next = text.indexOf('"', at)
      if (next < 0) break
      if (!isEscaped(text, next)) return next
      at = next
      letters = 0
    }
  }
  return text.length
}

function isEscaped(text: string, at: number): boolean {
  let first = at
  while (text.charCodeAt(first - 1) === backslash) first--
  return (at - first) % 2 === 1
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
