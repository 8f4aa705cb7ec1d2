import { ApiError } from '@plenum/protocol/errors'

/** Bounds of the server, less what a message puts around the data. A message that exceeds them ends the connection. */
const mostDepth = 60
const mostKeys = 9_900
const mostIdLength = 1_000

const refuse = (message: string) => new ApiError('INVALID_ARGUMENT', message)

export function checkId(name: string, value: unknown): void {
  if (typeof value === 'string' && value !== '' && value.length <= mostIdLength) return
  throw refuse(`${name} must be a string with 1 to ${mostIdLength} characters.`)
}

const contentTypes: unknown[] = [undefined, 'text', 'map', 'array', 'xml']

export function checkContentType(type: unknown): void {
  if (!contentTypes.includes(type)) throw refuse('type must be one of text, map, array, xml.')
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
  if (countKeys(data, mostDepth) > mostKeys) throw refuse(`data must not have more than ${mostKeys} keys.`)
}

function countKeys(value: object, depth: number): number {
  if (depth === 0) throw refuse(`data must not be nested deeper than ${mostDepth}.`)
  if (Object.hasOwn(value, '__proto__')) throw refuse('__proto__ is not allowed as a key.')
  const parts = Object.values(value)
  let keys = Array.isArray(value) ? 0 : parts.length
  for (const part of parts) if (typeof part === 'object' && part !== null) keys += countKeys(part, depth - 1)
  return keys
}

export const byteLength = (value: unknown): number => new TextEncoder().encode(JSON.stringify(value)).length
