import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../engine/db.ts'
import { batched } from '../engine/batched.ts'
import { inLockOrder } from '../engine/lock-order.ts'
import { prepared, sqliteOf } from '../engine/prepared.ts'

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
  /** Unix seconds; null if the grant does not expire. */
  expiresAt: number | null
}

export const organizationLevel = (organizationId: string): Level => ({
  organizationId,
  type: 'organization',
  id: organizationId,
})

/**
 * Sets one grant per user. It replaces role and expiry of an earlier grant. The user keeps the position in lists, unless
 * the earlier grant had expired or was removed.
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
  await db
    .insertInto('grants')
    .values(
      inLockOrder(grants, ({ level, userId }) => `${level.type}\0${level.id}\0${userId}`).map(
        ({ level, userId, accessRole, expiresAt }) => ({
          api_key: apiKey,
          organization_id: level.organizationId,
          resource_type: level.type,
          resource_id: level.id,
          user_id: userId,
          access_role: accessRole,
          expires_at: expiresAt,
          set_at: setAt,
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
          set_at: eb.ref('excluded.set_at'),
          created_at: eb
            .case()
            .when('grants.expires_at', '<=', Math.floor(now / 1000))
            .then(eb.ref('excluded.created_at'))
            .else(eb.ref('grants.created_at'))
            .end(),
        })),
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
      .select(['organization_id', 'expires_at'])
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

/**
 * Of at most 500 organizations, returns those that the user is a member of, and those in which the membership has ended and
 * was last changed at or after `since`.
 */
export async function findMemberships(
  db: Db,
  apiKey: string,
  userId: string,
  organizationIds: readonly string[],
  { since, now }: { since: number; now: number },
): Promise<{ current: Set<string>; endedSince: Set<string> }> {
  const current = new Set<string>()
  const endedSince = new Set<string>()
  if (organizationIds.length > 0) {
    const seconds = Math.floor(now / 1000)
    const rows = await selectMemberships(db, { apiKey, userId, organizationIds, since, seconds })
    for (const { organization_id: id, expires_at: end } of rows) {
      if (end === null || end > seconds) current.add(id)
      else endedSince.add(id)
    }
  }
  return { current, endedSince }
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
    .set({ access_role: accessRole, set_at: now })
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
