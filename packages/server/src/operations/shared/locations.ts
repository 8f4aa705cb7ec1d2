import { locationNumber } from '../../access/ids.ts'

/** The number of a location: computed from its id, which may be 0, else from its name (spec 22.5). */
export function locationIdOf({ id, locationName }: Record<string, unknown> = {}): number | undefined {
  for (const identity of [id, locationName]) {
    if (typeof identity === 'number' || (typeof identity === 'string' && identity.trim() !== '')) {
      return locationNumber(String(identity))
    }
  }
  return undefined
}

/**
 * The stored ids that a filter by location matches. The caller sends the id of a location or the number of its record, and
 * a text of digits may be either.
 */
export const storedLocationIds = (sent: readonly (string | number)[]): string[] =>
  sent.flatMap((id) => [String(id), String(locationNumber(String(id)))])
