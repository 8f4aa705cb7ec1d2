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
