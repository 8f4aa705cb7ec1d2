import type { Db } from './db.ts'
import { inLockOrder } from './lock-order.ts'
import { prepared } from './prepared.ts'
import type { GrantTable } from './schema.ts'

/** Where a user can be: an organization, one of its folders, one of its documents. */
export interface Level {
  organizationId: string
  type: GrantTable['resource_type']
  /** The organization's own id at that level. */
  id: string
}

export interface Grant {
  userId: string
  accessRole: 'viewer' | 'editor'
  /** Unix seconds; null is for ever. */
  expiresAt: number | null
}

export const organizationLevel = (organizationId: string): Level => ({
  organizationId,
  type: 'organization',
  id: organizationId,
})

const at = (level: Level) => ({
  organization_id: level.organizationId,
  resource_type: level.type,
  resource_id: level.id,
})

/** One grant for each user and level: a second one replaces role and expiry, and keeps its place in lists. */
export async function put(
  db: Db,
  apiKey: string,
  level: Level,
  grants: readonly Grant[],
  now: number,
): Promise<void> {
  await putAll(
    db,
    apiKey,
    grants.map((grant) => ({ ...grant, level })),
    now,
  )
}

/** As `put`, on many levels; no user may be named twice on one of them. */
export async function putAll(
  db: Db,
  apiKey: string,
  grants: readonly (Grant & { level: Level })[],
  now: number,
): Promise<void> {
  if (grants.length === 0) return
  await db
    .insertInto('grants')
    .values(
      inLockOrder(grants, ({ level, userId }) => `${level.type}/${level.id}/${userId}`).map(
        ({ level, userId, accessRole, expiresAt }) => ({
          api_key: apiKey,
          ...at(level),
          user_id: userId,
          access_role: accessRole,
          expires_at: expiresAt,
          created_at: now,
        }),
      ),
    )
    .onConflict((conflict) =>
      conflict
        .columns(['api_key', 'organization_id', 'resource_type', 'resource_id', 'user_id'])
        .doUpdateSet((eb) => ({
          access_role: eb.ref('excluded.access_role'),
          expires_at: eb.ref('excluded.expires_at'),
        })),
    )
    .execute()
}

/** The grants of these users at that level, expired ones left out. */
export async function find(
  db: Db,
  apiKey: string,
  level: Level,
  userIds: readonly string[],
  now: number,
): Promise<Map<string, Grant>> {
  if (userIds.length === 0) return new Map()
  const rows = await db
    .selectFrom('grants')
    .select(['user_id', 'access_role', 'expires_at'])
    .where('api_key', '=', apiKey)
    .where('organization_id', '=', level.organizationId)
    .where('resource_type', '=', level.type)
    .where('resource_id', '=', level.id)
    .where('user_id', 'in', userIds)
    .where((eb) => eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', Math.floor(now / 1000))]))
    .execute()
  return new Map(
    rows.map((row) => [
      row.user_id,
      { userId: row.user_id, accessRole: row.access_role, expiresAt: row.expires_at },
    ]),
  )
}

const selectMemberships = prepared(
  (db, of: { apiKey: string; userId: string; organizationIds: readonly string[]; seconds: number }) =>
    db
      .selectFrom('grants')
      .select('organization_id')
      .where('api_key', '=', of.apiKey)
      .where('organization_id', 'in', of.organizationIds)
      .where('resource_type', '=', 'organization')
      .where('user_id', '=', of.userId)
      .where((eb) => eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', of.seconds)])),
)

/** Those of these organizations, at most 500, that the user is a member of. */
export async function memberships(
  db: Db,
  apiKey: string,
  userId: string,
  organizationIds: readonly string[],
  now: number,
): Promise<Set<string>> {
  if (organizationIds.length === 0) return new Set()
  const of = { apiKey, userId, organizationIds, seconds: Math.floor(now / 1000) }
  return new Set((await selectMemberships(db, of)).map((row) => row.organization_id))
}

/** Removes the grants at that level, and tells whose. */
export async function remove(
  db: Db,
  apiKey: string,
  level: Level,
  userIds: readonly string[],
): Promise<Set<string>> {
  if (userIds.length === 0) return new Set()
  const rows = await db
    .deleteFrom('grants')
    .where('api_key', '=', apiKey)
    .where('organization_id', '=', level.organizationId)
    .where('resource_type', '=', level.type)
    .where('resource_id', '=', level.id)
    .where('user_id', 'in', userIds)
    .returning('user_id')
    .execute()
  return new Set(rows.map((row) => row.user_id))
}

export async function setRole(
  db: Db,
  apiKey: string,
  level: Level,
  userIds: readonly string[],
  accessRole: Grant['accessRole'],
): Promise<void> {
  if (userIds.length === 0) return
  await db
    .updateTable('grants')
    .set({ access_role: accessRole })
    .where('api_key', '=', apiKey)
    .where('organization_id', '=', level.organizationId)
    .where('resource_type', '=', level.type)
    .where('resource_id', '=', level.id)
    .where('user_id', 'in', userIds)
    .execute()
}

/** Removes every grant of these users in the organization, on itself and on all that is inside. */
export async function removeInside(
  db: Db,
  apiKey: string,
  organizationId: string,
  userIds: readonly string[],
) {
  await db
    .deleteFrom('grants')
    .where('api_key', '=', apiKey)
    .where('organization_id', '=', organizationId)
    .where('user_id', 'in', userIds)
    .execute()
}
