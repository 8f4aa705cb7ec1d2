import type { Db } from '../engine/db.ts'
import { padded } from '../engine/slices.ts'
import { prepared } from '../engine/prepared.ts'
import { type StoredGrant, toStoredGrant } from './access.ts'

const columns = [
  'organization_id',
  'resource_type',
  'resource_id',
  'access_role',
  'expires_at',
  'set_at',
  'role_set_at',
] as const

const selectMemberships = prepared(
  (db, of: { apiKey: string; userId: string; organizationIds: readonly string[] }) =>
    db
      .selectFrom('grants')
      .select(columns)
      .where('api_key', '=', of.apiKey)
      .where('organization_id', 'in', of.organizationIds)
      .where('user_id', '=', of.userId)
      .where('resource_type', '=', 'organization'),
  { isSmallRead: true },
)

/** The grants of the user on these organizations, including those that have ended. Their id is that of the organization. */
export async function findMemberships(
  db: Db,
  apiKey: string,
  userId: string,
  organizationIds: readonly string[],
): Promise<StoredGrant[]> {
  const rows = await selectMemberships(db, { apiKey, userId, organizationIds: padded(organizationIds) })
  return rows.map((row) => toStoredGrant(userId, row))
}

const selectAccessFields = prepared((db, of: { apiKey: string; userId: string; organizationId: string }) =>
  db
    .selectFrom('grants')
    .select(columns)
    .where('api_key', '=', of.apiKey)
    .where('organization_id', '=', of.organizationId)
    .where('user_id', '=', of.userId)
    .where('resource_type', '=', 'context'),
)

/** The fields of the access context that the user was granted in the organization, including those that have ended. */
export async function findAccessFields(
  db: Db,
  apiKey: string,
  userId: string,
  organizationId: string,
): Promise<StoredGrant[]> {
  const rows = await selectAccessFields(db, { apiKey, userId, organizationId })
  return rows.map((row) => toStoredGrant(userId, row))
}

const selectRemoval = prepared(
  (db, of: { apiKey: string; userId: string; organizationId: string }) =>
    db
      .selectFrom('grants')
      .select('set_at')
      .where('api_key', '=', of.apiKey)
      .where('organization_id', '=', of.organizationId)
      .where('user_id', '=', of.userId)
      .where('resource_type', '=', 'inside'),
  { isSmallRead: true },
)

/** When the user was last removed from the organization and all its contents, in Unix milliseconds. 0: never. */
export async function findRemovedAt(
  db: Db,
  apiKey: string,
  userId: string,
  organizationId: string,
): Promise<number> {
  const [row] = await selectRemoval(db, { apiKey, userId, organizationId })
  return row?.set_at ?? 0
}

/** Which of the users have a grant of this type on these resources of an organization that has not ended. */
export async function findHolders(
  db: Db,
  apiKey: string,
  organizationId: string,
  { type, ids }: { type: 'organization' | 'context'; ids: readonly string[] },
  userIds: readonly string[],
  nowSeconds: number,
): Promise<{ id: string; userId: string }[]> {
  if (userIds.length === 0) return []
  const rows = await db
    .selectFrom('grants')
    .select(['resource_id', 'user_id'])
    .where('api_key', '=', apiKey)
    .where('organization_id', '=', organizationId)
    .where('resource_type', '=', type)
    .where('resource_id', 'in', ids)
    .where('user_id', 'in', userIds)
    .where((eb) => eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', nowSeconds)]))
    .execute()
  return rows.map((row) => ({ id: row.resource_id, userId: row.user_id }))
}
