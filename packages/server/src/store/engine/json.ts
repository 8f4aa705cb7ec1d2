import { ApiError } from '@plenum/protocol'

/**
 * The limit for the data that a caller stores with one organization, document, user or notification, in bytes of JSON.
 * One call reads or writes hundreds of such items while other calls wait.
 */
const maxDataBytes = 16 * 1024

/** Returns the caller's data as JSON. Throws if it is too large. The error names the owner of the data: `item`. */
export function stringifyData(data: object, item: string): string {
  const text = JSON.stringify(data)
  limitData([text], item)
  return text
}

/** Throws if the data of an item is too large. It is stored in these parts of JSON. */
export function limitData(parts: readonly string[], item: string): void {
  const bytes = parts.reduce((sum, part) => sum + Buffer.byteLength(part), 0)
  if (bytes <= maxDataBytes) return
  const message = `The data of ${item} would have ${bytes} bytes as JSON. At most ${maxDataBytes} are allowed.`
  throw new ApiError('INVALID_ARGUMENT', message)
}

/** Parses JSON that the server itself stored. */
export const parse = <T>(text: string): T => JSON.parse(text) as T

/**
 * Merges the sent keys into the stored object; `null` removes a key. Spreading defines own properties, so no key of a
 * caller reaches a prototype.
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
