import { ApiError, type PermissionResource, type ResourceReference } from '@plenum/protocol'
import { type Level, organizationLevel } from '../../store/access/grants.ts'
import { byId } from './batches.ts'

export interface ResourceGrant {
  level: Level
  accessRole: 'viewer' | 'editor'
  /** Whether the caller did not send the role. */
  hasDefaultRole?: boolean
  /** Unix seconds. Null: the grant never expires. */
  expiresAt: number | null
}

/** The levels that a list of resources names, without duplicates. */
export const readLevels = (resources: readonly ResourceReference[]): Level[] =>
  [...byLevel(resources).values()].map(toLevel)

/**
 * The grants that a list of resources contains. If a level is repeated, its first grant applies (spec 0.4). `field`: the list
 * in the input, for messages.
 */
export const readGrants = (resources: readonly PermissionResource[], field?: string): ResourceGrant[] =>
  [...byLevel(resources, field).values()].map((resource) => ({
    level: toLevel(resource),
    accessRole: resource.accessRole ?? 'editor',
    ...(resource.accessRole === undefined && { hasDefaultRole: true }),
    expiresAt: resource.expiresAt === undefined ? null : toSeconds(resource.expiresAt),
  }))

function byLevel<T extends ResourceReference>(
  resources: readonly T[],
  field = 'permissions.resources',
): Map<string, T> {
  for (const [index, { type, organizationId }] of resources.entries()) {
    if (type !== 'organization' && organizationId === undefined) {
      throw new ApiError('INVALID_ARGUMENT', `${field}[${index}].organizationId is required.`)
    }
  }
  return byId(resources, (resource) => JSON.stringify(toLevel(resource)))
}

const toLevel = ({ type, id, organizationId = id }: ResourceReference): Level =>
  type === 'organization' ? organizationLevel(id) : { organizationId, type, id }

/** A number with at least thirteen digits is in milliseconds: as seconds it would lie 30,000 years ahead (spec 0.6). */
const toSeconds = (expiresAt: number): number => Math.floor(expiresAt >= 1e12 ? expiresAt / 1000 : expiresAt)
