import { Doc } from 'yjs'
import { ApiError } from '@plenum/protocol/errors'
import { limits, type OnlineStatus, onlineStatuses } from '@plenum/protocol/realtime'

/** A message that exceeds the limits ends the connection. The message around the data needs a few of each. */
const maxDepth = limits.jsonDepth - 4
const maxKeys = limits.jsonKeys - 10
const maxValues = limits.jsonValues - 10

const refuse = (message: string) => new ApiError('INVALID_ARGUMENT', message)

export function checkId(name: string, value: unknown): void {
  // A character outside of the basic plane counts once, as at the server.
  if (typeof value === 'string' && value !== '' && Array.from(value).length <= limits.idLength) return
  throw refuse(`${name} must be a string with 1 to ${limits.idLength} characters.`)
}

export function checkVersionName(name: unknown): void {
  const { versionNameLength: max } = limits
  if (typeof name === 'string' && name.trim() !== '' && Array.from(name).length <= max) return
  throw refuse(`name must be a string with 1 to ${max} characters, not all of them spaces.`)
}

export function checkPage(pageSize: unknown, pageToken: unknown): void {
  const { versionsPerPage: max, pageTokenLength } = limits
  const isCount = Number.isInteger(pageSize) && (pageSize as number) >= 1 && (pageSize as number) <= max
  if (pageSize !== undefined && !isCount) throw refuse(`pageSize must be an integer from 1 to ${max}.`)
  if (pageToken === undefined) return
  const isToken = typeof pageToken === 'string' && pageToken !== '' && pageToken.length <= pageTokenLength
  if (!isToken) throw refuse('pageToken must be the nextPageToken of the page before.')
}

const contentTypes: unknown[] = [undefined, 'text', 'map', 'array', 'xml']

export function checkContentType(type: unknown): void {
  if (!contentTypes.includes(type)) throw refuse('type must be one of text, map, array, xml.')
}

/** The documents of another copy of Yjs look the same, but their types are unknown here: changes would get lost. */
export function checkDoc(doc: unknown): void {
  if (doc === undefined || doc instanceof Doc) return
  const isOfOtherCopy = typeof (doc as Doc | null)?.clientID === 'number'
  throw refuse(
    isOfOtherCopy
      ? 'doc is a Y.Doc of another copy of Yjs than the one that @plenum/client imports. Keep one copy: run `npm dedupe`, or set `resolve.dedupe: ["yjs"]` in the configuration of Vite.'
      : 'doc must be a Y.Doc.',
  )
}

export function checkStatus(status: OnlineStatus | undefined): void {
  if (status === undefined || onlineStatuses.includes(status)) return
  throw refuse(`status must be one of ${onlineStatuses.join(', ')}.`)
}

/** What arrives of the data at the other end; later changes of the original do not count. */
export function copyOf(data: object): Record<string, unknown> {
  const copy: unknown = JSON.parse(JSON.stringify(data) ?? 'null')
  if (typeof copy !== 'object' || copy === null || Array.isArray(copy))
    throw refuse('data must be an object.')
  checkData(copy)
  return copy as Record<string, unknown>
}

export function checkData(data: object): void {
  const count = { keys: 0, values: 0 }
  measure(data, maxDepth, count)
  if (count.keys > maxKeys) throw refuse(`data must not have more than ${maxKeys} keys.`)
  if (count.values > maxValues) {
    throw refuse(`data must not have more than ${maxValues} strings, arrays and objects.`)
  }
}

/** Counts as the server does: numbers, booleans and nulls are no values. */
function measure(value: object, depth: number, count: { keys: number; values: number }): void {
  if (depth === 0) throw refuse(`data must not be nested deeper than ${maxDepth} levels.`)
  if (Object.hasOwn(value, '__proto__')) throw refuse('__proto__ is not allowed as a key.')
  const parts = Object.values(value)
  if (!Array.isArray(value)) count.keys += parts.length
  count.values++
  for (const part of parts) {
    if (typeof part === 'string') count.values++
    else if (typeof part === 'object' && part !== null) measure(part, depth - 1, count)
  }
}

export const byteLength = (value: unknown): number => new TextEncoder().encode(JSON.stringify(value)).length
