import { ApiError } from '@plenum/protocol'
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

/** Throws unless the location has an id or a name (spec 22.5). `field` names it in the message. */
export function requireIdentity(location: Record<string, unknown> | undefined, field: string): void {
  if (location === undefined || locationIdOf(location) !== undefined) return
  throw new ApiError('INVALID_ARGUMENT', `${field} must have an id or a locationName.`)
}

/**
 * The stored ids that a filter by location matches. The caller sends the id of a location or the number of its record, and
 * a text of digits may be either.
 */
export const storedLocationIds = (sent: readonly (string | number)[]): string[] =>
  sent.flatMap((id) => [String(id), String(locationNumber(String(id)))])
