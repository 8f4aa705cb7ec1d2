import { isUtf8 } from 'node:buffer'
import { randomUUID } from 'node:crypto'
import { ApiError } from '@plenum/protocol'
import { UnparsedJson } from '../../calls/input/unparsed-json.ts'
import { InvalidJson } from '../../platform/json/invalid-json.ts'
import { JsonScanner, openBrace, openBracket, type Span } from '../../platform/json/json-scanner.ts'
import { notJson, parseSafely, UnfitJson } from '../../platform/json/safe-json.ts'
import type { BodyBytes } from './body-bytes.ts'
import { bodyTooLarge } from '../errors.ts'

const invalid = (message: string) => new ApiError('INVALID_ARGUMENT', message)

export interface BodyLimits {
  maxDepth: number
  maxKeys: number
  maxValues: number
  /** Limits the bytes that are parsed. CRDT data that stays unparsed has the body limit of the route. */
  maxBytes: number
}

/** Options for a body above `maxUnqueuedBytes`. */
export interface LargeBody {
  /** Whether `data.data`, the CRDT data, stays unparsed if the body is read in pieces. */
  keepsDataUnparsed: boolean
  /** Resolves when it is the caller's turn. Returns undefined if the event loop is free now. */
  enterTurn: () => Promise<void> | undefined
}

/** Bodies up to this size do not wait for a turn: the slowest takes 1.5 ms. */
const maxUnqueuedBytes = 4 * 1024
/** Bodies up to this size are scanned and parsed without a pause: the slowest takes 12 ms. Larger ones are read in pieces. */
const maxAtOnceBytes = 32 * 1024
/** Bytes of a larger body that are scanned without a pause, which takes 2 ms. */
const scanStepBytes = 256 * 1024

/**
 * Parses a JSON body within the limits. Depth, keys and values are counted before the parser spends memory, stack and time
 * on them. A large body is processed in pieces, in turns with the bodies of other callers.
 */
export function readBody(
  body: BodyBytes,
  encoding: string | undefined,
  limits: BodyLimits,
  largeBody: () => LargeBody,
): unknown {
  if (body.length === 0) return undefined
  if (encoding !== undefined && encoding !== 'identity') throw invalid('Content-Encoding is not supported.')
  if (body.length <= maxUnqueuedBytes) return readAtOnce(body, limits)
  const large = largeBody()
  const turn = large.enterTurn()
  if (body.length > maxAtOnceBytes) return readInPieces(body, limits, large, turn)
  return turn ? turn.then(() => readAtOnce(body, limits)) : readAtOnce(body, limits)
}

/** Joins the chunks of the body in one buffer. Throws if they are not UTF-8. */
function joined({ chunks, length }: BodyBytes): Buffer {
  const bytes = Buffer.concat(chunks, length)
  if (!isUtf8(bytes)) throw invalid('Request body is not valid UTF-8.')
  return bytes
}

function readAtOnce(body: BodyBytes, limits: BodyLimits): unknown {
  const bytes = joined(body)
  if (!isSimple(bytes, limits)) scanSome(scannerOf(bytes, limits), limits)
  return parse(bytes)
}

/** Whether the body is so short and has so few brackets that it cannot exceed a limit. This is true for most bodies. */
function isSimple(bytes: Buffer, { maxDepth, maxKeys, maxValues }: BodyLimits): boolean {
  if (bytes.length > maxKeys || bytes.length > maxValues) return false
  let brackets = 0
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]
    if (byte === openBrace || byte === openBracket) brackets++
  }
  return brackets <= maxDepth
}

async function readInPieces(
  arrived: BodyBytes,
  limits: BodyLimits,
  { keepsDataUnparsed, enterTurn }: LargeBody,
  turn: Promise<void> | undefined,
): Promise<unknown> {
  await turn
  const bytes = joined(arrived)
  await enterTurn()
  const scanner = scannerOf(bytes, limits, keepsDataUnparsed)
  while (!scanSome(scanner, limits, scanStepBytes)) await enterTurn()
  const { found } = scanner
  const parsed = found.length === 0 ? bytes : withPlaceholders(bytes, found)
  if (parsed.length > limits.maxBytes) {
    throw bodyTooLarge('Without CRDT data it', limits.maxBytes, 'LIMIT_BODY_BYTES')
  }
  await enterTurn()
  const body = parse(parsed)
  await enterTurn()
  return found.length === 0 ? body : withUnparsedData(body, bytes, found)
}

/** The scanner skips it at the beginning of a body, as the parser does. */
const byteOrderMark = Buffer.from('\uFEFF')

function scannerOf(bytes: Buffer, limits: BodyLimits, findsCrdtData = false): JsonScanner {
  const from = bytes.subarray(0, byteOrderMark.length).equals(byteOrderMark) ? byteOrderMark.length : 0
  const { maxDepth: depth, maxKeys: keys, maxValues: values } = limits
  const field = findsCrdtData ? 'data' : undefined
  return new JsonScanner(bytes, { depth, keys, values }, { skipsStrings: true, field }, from)
}

/** Scans about `maxBytes` further. Returns true when all bytes are scanned. */
function scanSome(scanner: JsonScanner, limits: BodyLimits, maxBytes?: number): boolean {
  try {
    return scanner.scan(maxBytes)
  } catch (error) {
    throw error instanceof InvalidJson ? invalid(messageOf(error, limits)) : error
  }
}

function messageOf({ limit }: InvalidJson, { maxDepth, maxKeys, maxValues }: BodyLimits): string {
  if (limit === 'depth') return `Request body must not nest deeper than ${maxDepth} levels.`
  if (limit === 'keys') return `Request body must not have more than ${maxKeys} keys.`
  if (limit === 'values') {
    return `Request body must not have more than ${maxValues} strings, arrays and objects.`
  }
  return notJson
}

function parse(bytes: Buffer): unknown {
  try {
    return parseSafely(bytes.toString())
  } catch (error) {
    throw error instanceof UnfitJson ? invalid(error.message) : error
  }
}

/** Random and never sent, so no body can contain it. */
const placeholder = randomUUID()

/** The body with a placeholder string in place of each span. */
function withPlaceholders(bytes: Buffer, spans: readonly Span[]): Buffer {
  let end = 0
  const pieces = spans.flatMap(({ from, to }, index) => {
    const before = bytes.subarray(end, from)
    end = to
    return [before, Buffer.from(`"${placeholder}${index}"`)]
  })
  return Buffer.concat([...pieces, bytes.subarray(end)])
}

/**
 * Puts the unparsed CRDT data in place of its placeholder in `body.data.data`. A body may repeat the key `data`: the parser
 * has kept the last value, which need not be the one with a placeholder.
 */
function withUnparsedData(body: unknown, bytes: Buffer, spans: readonly Span[]): unknown {
  const { data } = body as { data?: unknown }
  if (typeof data !== 'object' || data === null) return body
  const { data: crdtData } = data as { data?: unknown }
  if (typeof crdtData !== 'string' || !crdtData.startsWith(placeholder)) return body
  const { from, to } = spans[Number(crdtData.slice(placeholder.length))] as Span
  Object.assign(data, { data: new UnparsedJson(bytes.subarray(from, to)) })
  return body
}
