import { type ExpressionBuilder, sql } from 'kysely'
import type { Db } from '../engine/db.ts'
import { deleteSome } from '../engine/some-rows.ts'
import { grantsByUser, type Level } from './grants.ts'
import { inLockOrder } from '../engine/lock-order.ts'
import type { GrantTable, Schema } from '../schema/schema.ts'

/** Longer than the lifetime of a user token: afterwards there is no token left that a removal must override. */
export const retentionMs = 49 * 60 * 60 * 1000

/** The `expires_at` of a removed grant. No other grant has it. */
export const removed = 0

/** A condition that leaves out removed grants. */
export const notRemoved = (eb: ExpressionBuilder<Schema, 'grants'>) =>
  eb.or([eb('grants.expires_at', 'is', null), eb('grants.expires_at', '>', removed)])

/** As `notRemoved`, for SQL text. */
export const areNotRemoved = sql<boolean>`(expires_at is null or expires_at > ${sql.lit(removed)})`

/** Removes grants, even those that were never stored: a token may contain them. */
export async function remove(
  db: Db,
  apiKey: string,
  grants: readonly { level: Level; userId: string }[],
  now: number,
): Promise<void> {
  await putRemoved(
    db,
    apiKey,
    grants.map(({ level, userId }) => ({ ...level, userId })),
    now,
  )
}

/** Removes these users from the organization and from everything inside, also with tokens. Grants inside stay stored. */
export async function removeMembers(
  db: Db,
  apiKey: string,
  organizationId: string,
  userIds: readonly string[],
  now: number,
): Promise<void> {
  const removals = userIds.flatMap((userId) =>
    (['organization', 'inside'] as const).map((type) => ({
      organizationId,
      type,
      id: organizationId,
      userId,
    })),
  )
  await putRemoved(db, apiKey, removals, now)
}

/** Removes every grant of these users on folders and documents of the organization, also the grants in tokens. */
export async function removeInside(
  db: Db,
  apiKey: string,
  organizationId: string,
  userIds: readonly string[],
  now: number,
): Promise<void> {
  await sql`
    delete from ${grantsByUser(db)}
    where api_key = ${apiKey} and organization_id = ${organizationId}
      and resource_type in ('folder', 'document', 'context') and user_id in (${sql.join(userIds)})`.execute(
    db,
  )
  const all = { organizationId, type: 'inside', id: organizationId } as const
  await putRemoved(
    db,
    apiKey,
    userIds.map((userId) => ({ ...all, userId })),
    now,
  )
}

/** A grant that is stored as removed. */
interface Removal {
  organizationId: string
  type: GrantTable['resource_type']
  id: string
  userId: string
}

async function putRemoved(db: Db, apiKey: string, removals: readonly Removal[], now: number): Promise<void> {
  if (removals.length === 0) return
  await db
    .insertInto('grants')
    .values(
      inLockOrder(removals, ({ type, id, userId }) => `${type}\0${id}\0${userId}`).map(
        ({ organizationId, type, id, userId }) => ({
          api_key: apiKey,
          organization_id: organizationId,
          resource_type: type,
          resource_id: id,
          user_id: userId,
          access_role: 'viewer' as const,
          expires_at: removed,
          set_at: now,
          created_at: now,
        }),
      ),
    )
    .onConflict((conflict) =>
      conflict
        .columns(['api_key', 'organization_id', 'resource_type', 'resource_id', 'user_id'])
        .doUpdateSet((eb) => ({
          expires_at: eb.ref('excluded.expires_at'),
          set_at: eb.ref('excluded.set_at'),
        })),
    )
    .execute()
}

/**
 * Deletes ended grants that were set before any valid token was issued, of every tenant, at most `maxRows`. Returns their
 * number.
 */
export const prune = (db: Db, now: number, maxRows: number): Promise<number> =>
  deleteSome(
    db,
    'grants',
    sql`expires_at <= ${Math.floor(now / 1000)} and set_at <= ${now - retentionMs}`,
    maxRows,
  )
