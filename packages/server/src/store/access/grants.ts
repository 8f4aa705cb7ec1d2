import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../engine/db.ts'
import { batched } from '../engine/batched.ts'
import { inLockOrder } from '../engine/lock-order.ts'
import { prepared, sqliteOf } from '../engine/prepared.ts'
import type { GrantTable } from '../schema/schema.ts'

/** What a user can be granted: an organization, one of its folders or documents, or a field of the access context there. */
export interface Level {
  organizationId: string
  type: 'organization' | 'folder' | 'document' | 'context'
  /** The id of the resource: for an organization its own id, for a field of the access context `key:value`. */
  id: string
}

export interface Grant {
  userId: string
  accessRole: 'viewer' | 'editor'
  /** Whether nobody sent the role. Then another grant of the user may give it (spec 25.3.5). */
  hasDefaultRole?: boolean
  /** Unix seconds; null if the grant does not expire. */
  expiresAt: number | null
}

export const organizationLevel = (organizationId: string): Level => ({
  organizationId,
  type: 'organization',
  id: organizationId,
})

/**
 * Sets one grant per user. It replaces expiry and role of an earlier grant; a default role replaces only that of a grant that
 * had expired or was removed. The user keeps the position in lists, unless the earlier grant had expired or was removed.
 */
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

/** As `put`, on many levels. No user may be named twice on one level. `setAt`: when the grants were decided. */
export async function putAll(
  db: Db,
  apiKey: string,
  grants: readonly (Grant & { level: Level })[],
  now: number,
  setAt = now,
): Promise<void> {
  if (grants.length === 0) return
  await holdProfiles(
    db,
    apiKey,
    grants.map(({ userId }) => userId),
  )
  const seconds = Math.floor(now / 1000)
  await db
    .insertInto('grants')
    .values(
      inLockOrder(grants, ({ level, userId }) => `${level.type}\0${level.id}\0${userId}`).map(
        ({ level, userId, accessRole, hasDefaultRole, expiresAt }) => ({
          api_key: apiKey,
          organization_id: level.organizationId,
          resource_type: level.type,
          resource_id: level.id,
          user_id: userId,
          access_role: accessRole,
          expires_at: expiresAt,
          set_at: setAt,
          role_set_at: hasDefaultRole ? 0 : null,
          created_at: now,
        }),
      ),
    )
    .onConflict((conflict) =>
      conflict
        .columns(['api_key', 'organization_id', 'resource_type', 'resource_id', 'user_id'])
        .doUpdateSet((eb) => {
          const keepsRole = eb.and([
            eb('excluded.role_set_at', '=', 0),
            eb.or([eb('grants.expires_at', 'is', null), eb('grants.expires_at', '>', seconds)]),
          ])
          return {
            access_role: eb
              .case()
              .when(keepsRole)
              .then(eb.ref('grants.access_role'))
              .else(eb.ref('excluded.access_role'))
              .end(),
            role_set_at: eb
              .case()
              .when(keepsRole)
              .then(eb.fn.coalesce('grants.role_set_at', 'grants.set_at'))
              .else(eb.ref('excluded.role_set_at'))
              .end(),
            expires_at: eb.ref('excluded.expires_at'),
            set_at: eb.ref('excluded.set_at'),
            created_at: eb
              .case()
              .when('grants.expires_at', '<=', seconds)
              .then(eb.ref('excluded.created_at'))
              .else(eb.ref('grants.created_at'))
              .end(),
          }
        }),
    )
    .execute()
}

/**
 * Writes the profiles without a change. A transaction that removes the last grants of a user also removes the profile. If it
 * does not see a grant that is added at the same time, it collides here and runs again. Only PostgreSQL needs this. Call it
 * before other rows of these users are written, so that transactions take their locks in the same order.
 */
export async function holdProfiles(db: Db, apiKey: string, userIds: readonly string[]): Promise<void> {
  if (sqliteOf(db)) return
  await touchProfiles(
    db,
    [...new Set(userIds)].map((user_id) => ({ api_key: apiKey, user_id })),
  )
}

const touchProfiles = batched<'api_key' | 'user_id'>(
  { api_key: 'text', user_id: 'text' },
  ({ row, fromRows }) => sql`
    with held as (
      select u.api_key, u.user_id ${fromRows} join users as u on u.api_key = ${row.api_key} and u.user_id = ${row.user_id}
      order by 1, 2 for no key update of u
    )
    update users set last_updated = last_updated from held
    where users.api_key = held.api_key and users.user_id = held.user_id`,
)

/** The grants of these users at this level that have not expired, by user id. */
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
  (
    db,
    of: {
      apiKey: string
      userId: string
      organizationIds: readonly string[]
      since: number
      seconds: number
    },
  ) =>
    db
      .selectFrom('grants')
      .select(['organization_id', 'access_role', 'expires_at', 'role_set_at'])
      .where('api_key', '=', of.apiKey)
      .where('organization_id', 'in', of.organizationIds)
      .where('resource_type', '=', 'organization')
      .where('user_id', '=', of.userId)
      .where((eb) =>
        eb.or([
          eb('expires_at', 'is', null),
          eb('expires_at', '>', of.seconds),
          eb('set_at', '>=', of.since),
        ]),
      ),
  { isSmallRead: true },
)

export interface Memberships {
  /** The organizations that the user is a member of. */
  current: Set<string>
  /** Those of them where nobody sent the role. */
  withDefaultRole: Set<string>
  /** The organizations in which the membership has ended, if it was changed at or after `since`. */
  endedSince: Set<string>
}

/** The memberships of the user in at most 500 organizations. */
export async function findMemberships(
  db: Db,
  apiKey: string,
  userId: string,
  organizationIds: readonly string[],
  { since, now }: { since: number; now: number },
): Promise<Memberships> {
  const found: Memberships = { current: new Set(), withDefaultRole: new Set(), endedSince: new Set() }
  if (organizationIds.length > 0) {
    const seconds = Math.floor(now / 1000)
    const rows = await selectMemberships(db, { apiKey, userId, organizationIds, since, seconds })
    for (const row of rows) {
      const { organization_id: id, expires_at: end } = row
      const isCurrent = end === null || end > seconds
      found[isCurrent ? 'current' : 'endedSince'].add(id)
      if (isCurrent && isDefaultRole(row)) found.withDefaultRole.add(id)
    }
  }
  return found
}

/** A server of an earlier version changes `access_role` only, so a viewer always has a role that somebody sent. */
export const isDefaultRole = (row: Pick<GrantTable, 'access_role' | 'role_set_at'>): boolean =>
  row.role_set_at === 0 && row.access_role === 'editor'

/** Sets the role of a membership that has the default role. */
export async function setDefaultRole(
  db: Db,
  apiKey: string,
  { organizationId, userId }: { organizationId: string; userId: string },
  accessRole: Grant['accessRole'],
  sentAt: number,
): Promise<void> {
  await db
    .updateTable('grants')
    .set({ access_role: accessRole, role_set_at: sentAt })
    .where('api_key', '=', apiKey)
    .where('organization_id', '=', organizationId)
    .where('resource_type', '=', 'organization')
    .where('resource_id', '=', organizationId)
    .where('user_id', '=', userId)
    .where('role_set_at', '=', 0)
    .execute()
}

export async function setRole(
  db: Db,
  apiKey: string,
  level: Level,
  userIds: readonly string[],
  accessRole: Grant['accessRole'],
  now: number,
): Promise<void> {
  if (userIds.length === 0) return
  await db
    .updateTable('grants')
    .set({ access_role: accessRole, set_at: now, role_set_at: null })
    .where('api_key', '=', apiKey)
    .where('organization_id', '=', level.organizationId)
    .where('resource_type', '=', level.type)
    .where('resource_id', '=', level.id)
    .where('user_id', 'in', userIds)
    .execute()
}

/**
 * The grants table for look-ups by user. Without the hint SQLite, which has no statistics, would read all grants of the
 * organization from an index that covers every column.
 */
export const grantsByUser = (db: Db): RawBuilder<unknown> =>
  sqliteOf(db) ? sql`grants indexed by grants_by_organization_id_user_id` : sql`grants`
