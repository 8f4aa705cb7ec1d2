import { Doc } from 'yjs'
import { ApiError } from '@plenum/protocol/errors'
import { limits, type OnlineStatus, onlineStatuses } from '@plenum/protocol/realtime'

/**
 * The server closes the connection when a message exceeds its limits, so the client rejects such data before it sends the
 * message. The message around the data needs a few levels, keys and values of its own.
 */
const maxDepth = limits.jsonDepth - 4
const maxKeys = limits.jsonKeys - 10
const maxValues = limits.jsonValues - 10

const invalid = (message: string) => new ApiError('INVALID_ARGUMENT', message)

export function checkId(name: string, value: unknown): void {
  // Counts code points, as the server does: an emoji is one character.
  if (typeof value === 'string' && value !== '' && Array.from(value).length <= limits.idLength) return
  throw invalid(`${name} must be a string with 1 to ${limits.idLength} characters.`)
}

export function checkVersionName(name: unknown): void {
  const { versionNameLength: max } = limits
  if (typeof name === 'string' && name.trim() !== '' && Array.from(name).length <= max) return
  throw invalid(`name must be a string with 1 to ${max} characters, not only spaces.`)
}

export function checkPage(pageSize: unknown, pageToken: unknown): void {
  const { versionsPerPage: max, pageTokenLength } = limits
  const isSize = Number.isInteger(pageSize) && (pageSize as number) >= 1 && (pageSize as number) <= max
  if (pageSize !== undefined && !isSize) throw invalid(`pageSize must be an integer from 1 to ${max}.`)
  if (pageToken === undefined) return
  const isToken = typeof pageToken === 'string' && pageToken !== '' && pageToken.length <= pageTokenLength
  if (!isToken) throw invalid('pageToken must be the nextPageToken of the previous page.')
}

const contentTypes: unknown[] = [undefined, 'text', 'map', 'array', 'xml']

export function checkContentType(type: unknown): void {
  if (!contentTypes.includes(type)) throw invalid('type must be one of text, map, array, xml.')
}

/** A document from another copy of Yjs looks the same, but its types are unknown here, so changes would get lost. */
export function checkDoc(doc: unknown): void {
  if (doc === undefined || doc instanceof Doc) return
  const isFromOtherCopy = typeof (doc as Doc | null)?.clientID === 'number'
  throw invalid(
    isFromOtherCopy
      ? 'doc is a Y.Doc from another copy of Yjs than the one that @plenum/client imports. Keep one copy: run `npm dedupe`, or set `resolve.dedupe: ["yjs"]` in the configuration of Vite.'
      : 'doc must be a Y.Doc.',
  )
}

export function checkStatus(status: OnlineStatus | undefined): void {
  if (status === undefined || onlineStatuses.includes(status)) return
  throw invalid(`status must be one of ${onlineStatuses.join(', ')}.`)
}

/** Copies the data as JSON transports it. Later changes of the original have no effect on the copy. */
export function copyData(data: object): Record<string, unknown> {
  const copy: unknown = JSON.parse(JSON.stringify(data) ?? 'null')
  if (typeof copy !== 'object' || copy === null || Array.isArray(copy))
    throw invalid('data must be an object.')
  checkData(copy)
  return copy as Record<string, unknown>
}

export function checkData(data: object): void {
  const total = { keys: 0, values: 0 }
  measure(data, maxDepth, total)
  if (total.keys > maxKeys) throw invalid(`data must not have more than ${maxKeys} keys.`)
  if (total.values > maxValues) {
    throw invalid(`data must not have more than ${maxValues} strings, arrays and objects.`)
  }
}

/** Counts what the server counts: strings, arrays and objects are values; numbers, booleans and nulls are not. */
function measure(value: object, depth: number, total: { keys: number; values: number }): void {
  if (depth === 0) throw invalid(`data must not be nested deeper than ${maxDepth} levels.`)
  if (Object.hasOwn(value, '__proto__')) throw invalid('__proto__ is not allowed as a key.')
  const parts = Object.values(value)
  if (!Array.isArray(value)) total.keys += parts.length
  total.values++
  for (const part of parts) {
    if (typeof part === 'string') total.values++
    else if (typeof part === 'object' && part !== null) measure(part, depth - 1, total)
  }
}

export const byteLength = (value: unknown): number => new TextEncoder().encode(JSON.stringify(value)).length
