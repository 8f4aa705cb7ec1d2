import type { Organization } from '@plenum/protocol'
import { yieldIfLate, mapYielding } from '../platform/turns/loop-time.ts'
import type { Cursor, Db } from './engine/db.ts'
import { mergeKeys, parse, stringifyData } from './engine/json.ts'
import { prepared } from './engine/prepared.ts'
import { notRemoved } from './access/removed-grants.ts'
import type { OrganizationTable } from './schema/schema.ts'
import { documentTablesWithoutForeignKey } from './schema/tables.ts'
import { padded, slices } from './engine/slices.ts'
import * as users from './users/users.ts'

type Row = Pick<OrganizationTable, 'organization_id' | 'disabled' | 'data' | 'created_at' | 'last_updated'>
const columns = ['organization_id', 'disabled', 'data', 'created_at', 'last_updated'] as const

function toOrganization(row: Row): Organization {
  const organization = parse<Organization>(row.data)
  organization.id = row.organization_id
  organization.organizationName ??= row.organization_id
  organization.disabled = row.disabled === 1
  organization.createdAt = row.created_at
  organization.lastUpdated = row.last_updated
  return organization
}

const selectByIds = prepared(
  (db, { apiKey, ids }: { apiKey: string; ids: readonly string[] }) =>
    db
      .selectFrom('organizations')
      .select(columns)
      .where('api_key', '=', apiKey)
      .where('organization_id', 'in', ids),
  { isSmallRead: true },
)

const selectId = prepared(
  (db, { apiKey, organizationId }: { apiKey: string; organizationId: string }) =>
    db
      .selectFrom('organizations')
      .select('organization_id')
      .where('api_key', '=', apiKey)
      .where('organization_id', '=', organizationId),
  { isSmallRead: true },
)

interface Window {
  limit: number
  after: Cursor | undefined
}

/** The organizations with these ids that exist, in the order of `list`. */
export async function findMany(
  db: Db,
  apiKey: string,
  ids: readonly string[],
  { limit, after }: Window = { limit: ids.length, after: undefined },
): Promise<Organization[]> {
  if (ids.length === 0) return []
  const found = await mapYielding(await selectByIds(db, { apiKey, ids: padded(ids) }), toOrganization)
  found.sort((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1))
  if (!after) return found.slice(0, limit)
  const [createdAt, id] = after as [number, string]
  return found
    .filter((one) => one.createdAt > createdAt || (one.createdAt === createdAt && one.id > id))
    .slice(0, limit)
}

export async function exists(db: Db, apiKey: string, organizationId: string): Promise<boolean> {
  return (await selectId(db, { apiKey, organizationId })).length > 0
}

/** Lists organizations by creation time, then id. */
export async function list(db: Db, apiKey: string, { limit, after }: Window): Promise<Organization[]> {
  let query = db
    .selectFrom('organizations')
    .select(columns)
    .where('api_key', '=', apiKey)
    .orderBy('created_at')
    .orderBy('organization_id')
    .limit(limit)
  if (after) {
    const [createdAt, id] = after as [number, string]
    query = query.where(({ eb, refTuple, tuple }) =>
      eb(refTuple('created_at', 'organization_id'), '>', tuple(createdAt, id)),
    )
  }
  return mapYielding(await query.execute(), toOrganization)
}

/** Adds the organizations that do not exist yet. Returns the ids of the added organizations. */
export async function add(
  db: Db,
  apiKey: string,
  organizations: readonly { organizationId: string; data: Record<string, unknown>; disabled?: boolean }[],
  now: number,
): Promise<ReadonlySet<string>> {
  if (organizations.length === 0) return new Set()
  const rows = await db
    .insertInto('organizations')
    .values(
      organizations.map(({ organizationId, data, disabled }) => ({
        api_key: apiKey,
        organization_id: organizationId,
        disabled: disabled ? 1 : 0,
        data: stringifyData(data, `organization ${organizationId}`),
        created_at: now,
        last_updated: now,
      })),
    )
    .onConflict((conflict) => conflict.doNothing())
    .returning('organization_id')
    .execute()
  return new Set(rows.map((row) => row.organization_id))
}

/** Creates the organization if it does not exist (spec 0.8). */
export async function ensure(db: Db, apiKey: string, organizationId: string, now: number): Promise<void> {
  if (await exists(db, apiKey, organizationId)) return
  await add(db, apiKey, [{ organizationId, data: {} }], now)
}

/** Merges the keys into the data of the organization. Returns false if it does not exist. */
export async function update(
  db: Db,
  apiKey: string,
  organizationId: string,
  keys: Record<string, unknown>,
  now: number,
): Promise<boolean> {
  await yieldIfLate()
  const row = await db
    .selectFrom('organizations')
    .select('data')
    .where('api_key', '=', apiKey)
    .where('organization_id', '=', organizationId)
    .executeTakeFirst()
  if (!row) return false
  const data = mergeKeys(parse(row.data), keys)
  await db
    .updateTable('organizations')
    .set({ data: stringifyData(data, `organization ${organizationId}`), last_updated: now })
    .where('api_key', '=', apiKey)
    .where('organization_id', '=', organizationId)
    .execute()
  return true
}

export async function setDisabled(
  db: Db,
  apiKey: string,
  ids: readonly string[],
  disabled: boolean,
  now: number,
) {
  await db
    .updateTable('organizations')
    .set({ disabled: disabled ? 1 : 0, last_updated: now })
    .where('api_key', '=', apiKey)
    .where('organization_id', 'in', ids)
    .execute()
}

/**
 * Removes organizations with everything inside, and users who have no other grants (spec 8.4). Returns the ids of the
 * organizations that existed.
 */
export async function remove(db: Db, apiKey: string, ids: readonly string[]): Promise<ReadonlySet<string>> {
  // No foreign key deletes grants, nor the rows of `documentTablesWithoutForeignKey`.
  const grants = await db
    .deleteFrom('grants')
    .where('api_key', '=', apiKey)
    .where('organization_id', 'in', ids)
    .where(notRemoved)
    .returning('user_id')
    .execute()
  const userIds = new Set(grants.map((grant) => grant.user_id))
  for (const some of slices([...userIds])) await users.removeWithoutGrants(db, apiKey, some)
  for (const table of documentTablesWithoutForeignKey) {
    await db.deleteFrom(table).where('api_key', '=', apiKey).where('organization_id', 'in', ids).execute()
  }
  const rows = await db
    .deleteFrom('organizations')
    .where('api_key', '=', apiKey)
    .where('organization_id', 'in', ids)
    .returning('organization_id')
    .execute()
  return new Set(rows.map((row) => row.organization_id))
}
