import { ApiError } from '@plenum/protocol'

/**
 * What callers may keep with one organization, document, user or notification, in bytes of JSON. Hundreds of them are read
 * and written at a time, while others wait.
 */
const maxDataBytes = 16 * 1024

/** JSON of what callers keep with that item. */
export function stringifyData(data: object, item: string): string {
  const text = JSON.stringify(data)
  const bytes = Buffer.byteLength(text)
  if (bytes <= maxDataBytes) return text
  const message = `The data of ${item} would have ${bytes} bytes as JSON. At most ${maxDataBytes} are allowed.`
  throw new ApiError('INVALID_ARGUMENT', message)
}

/** Reads what the server itself stored as JSON text. */
export const parse = <T>(text: string): T => JSON.parse(text) as T

/**
 * The stored object with the sent keys laid over it; `null` removes a key. Spreading defines own properties, so no key
 * of a caller reaches a prototype.
 */
export function mergeKeys(
  stored: Record<string, unknown>,
  sent: Record<string, unknown>,
): Record<string, unknown> {
  const merged = { ...stored, ...sent }
  for (const [key, value] of Object.entries(merged)) {
    if (value === null || value === undefined) delete merged[key]
  }
  return merged
}
