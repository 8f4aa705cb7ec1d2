import type { User } from '@plenum/protocol'
import { type RawBuilder, sql } from 'kysely'
import { breathe, mapInTurns } from '../platform/loop-time.ts'
import type { Cursor, Db } from './db.ts'
import type { Level } from './grants.ts'
import { parse } from './json.ts'
import type { Filter, Member, Read } from './member-lists.ts'
import { toUser } from './profiles.ts'
import { grantsByUser } from './some-rows.ts'

/** Rows that one statement looks through: about 3 ms of SQLite. */
const scannedTogether = 1000
/** A filter that leaves no more users is read user by user, whatever else is in the organization. */
const maxFew = 30

/**
 * The users of every document, document by document, by the time they came, then id. Reads in short steps: a user, a group
 * and an organization may have very many grants.
 */
export async function byDocument(
  db: Db,
  apiKey: string,
  { organizationId }: Level,
  { filter, limit, after, now }: Read,
): Promise<Member[]> {
  const inOrganization = sql<boolean>`api_key = ${apiKey} and organization_id = ${organizationId}`
  const userIds = await findFew(db, inOrganization, filter)
  const isLive = sql<boolean>`(expires_at is null or expires_at > ${Math.floor(now / 1000)})`
  const step = userIds
    ? (from: Cursor | undefined) => amongUsers(db, inOrganization, userIds, isLive, from, limit)
    : (from: Cursor | undefined) => amongAll(db, inOrganization, filter, isLive, from)
  const found: Row[] = []
  for (let next = after; ;) {
    const { rows, last } = await step(next)
    found.push(...rows)
    if (!last || found.length >= limit) break
    next = last
    await breathe()
  }
  return withProfiles(db, apiKey, found.slice(0, limit))
}

interface Row {
  user_id: string
  resource_id: string
  access_role: User['accessRole']
  created_at: number
}

/** The live grants that fit, in order, and the place behind which there may be more. */
interface Step {
  rows: Row[]
  last: Cursor | undefined
}

type Flagged = Row & { fits: number }

/** The users whom the filter lets through, if they are few. */
async function findFew(
  db: Db,
  inOrganization: RawBuilder<boolean>,
  { userIds, groupIds }: Filter,
): Promise<readonly string[] | undefined> {
  if (userIds?.length === 0 || groupIds?.length === 0) return []
  if (!groupIds) return userIds && [...new Set(userIds)]
  const among = userIds ? sql`user_id in (${sql.join(userIds)})` : sql`1 = 1`
  const { rows } = await sql<{ user_id: string }>`
    select distinct user_id from user_group_members
    where ${inOrganization} and group_id in (${sql.join(groupIds)}) and ${among}
    limit ${sql.lit(maxFew + 1)}`.execute(db)
  return rows.length <= maxFew ? rows.map((row) => row.user_id) : undefined
}

const flag = (condition: RawBuilder<unknown>) => sql`case when ${condition} then 1 else 0 end`
const columns = sql.raw('user_id, resource_id, access_role, created_at')
const order = sql.raw('resource_id, created_at, user_id')
const isBehind = (after: Cursor | undefined) =>
  after ? sql<boolean>`(${order}) > (${sql.join(after)})` : sql<boolean>`1 = 1`
const placeOf = (row: Row): Cursor => [row.resource_id, row.created_at, row.user_id]

/** Walks through the grants on all documents. */
async function amongAll(
  db: Db,
  inOrganization: RawBuilder<boolean>,
  { groupIds }: Filter,
  isLive: RawBuilder<boolean>,
  after: Cursor | undefined,
): Promise<Step> {
  const isMember = groupIds
    ? sql`exists (
        select 1 from user_group_members as members
        where ${inOrganization} and group_id in (${sql.join(groupIds)}) and members.user_id = grants.user_id)`
    : sql`1 = 1`
  const { rows } = await sql<Flagged>`
    select ${columns}, ${flag(sql`${isLive} and ${isMember}`)} as fits from grants
    where ${inOrganization} and resource_type = 'document' and ${isBehind(after)}
    order by ${order} limit ${sql.lit(scannedTogether)}`.execute(db)
  const last = rows.length === scannedTogether ? rows.at(-1) : undefined
  return { rows: rows.filter((row) => row.fits === 1), last: last && placeOf(last) }
}

/** Walks through the grants of each user in the order of the documents, as far as it got with all of them. */
async function amongUsers(
  db: Db,
  inOrganization: RawBuilder<boolean>,
  userIds: readonly string[],
  isLive: RawBuilder<boolean>,
  after: Cursor | undefined,
  limit: number,
): Promise<Step> {
  if (userIds.length === 0) return { rows: [], last: undefined }
  const each = Math.max(20, Math.ceil(limit / userIds.length))
  // In the document that the last step ended with, there may be more users.
  const fromDocument = after ? sql`resource_id >= ${after[0]}` : sql`1 = 1`
  const ofUser = (userId: string) => sql`
    select * from (
      select ${columns}, expires_at from ${grantsByUser(db)}
      where ${inOrganization} and user_id = ${userId} and resource_type = 'document' and ${fromDocument}
      order by resource_id limit ${sql.lit(each)}) as theirs`
  const { rows } = await sql<Flagged>`
    select ${columns}, ${flag(sql`${isLive} and ${isBehind(after)}`)} as fits
    from (${sql.join(userIds.map(ofUser), sql` union all `)}) as found
    order by ${order}`.execute(db)
  const read = new Map<string, number>()
  for (const [index, { user_id: userId }] of rows.entries()) {
    const count = (read.get(userId) ?? 0) + 1
    read.set(userId, count)
    // This user may have more grants behind this one, which come before the rows that follow.
    if (count < each) continue
    const complete = rows.slice(0, index + 1)
    return { rows: complete.filter((row) => row.fits === 1), last: placeOf(rows[index] as Row) }
  }
  return { rows: rows.filter((row) => row.fits === 1), last: undefined }
}

async function withProfiles(db: Db, apiKey: string, rows: readonly Row[]): Promise<Member[]> {
  if (rows.length === 0) return []
  const stored = await db
    .selectFrom('users')
    .select(['user_id', 'profile'])
    .where('api_key', '=', apiKey)
    .where('user_id', 'in', [...new Set(rows.map((row) => row.user_id))])
    .execute()
  const profiles = new Map(stored.map((row) => [row.user_id, row.profile]))
  return mapInTurns(rows, ({ user_id: userId, resource_id, access_role: accessRole, created_at }) => ({
    user: Object.assign(toUser(userId, parse(profiles.get(userId) ?? '{}')), { accessRole }),
    resourceId: resource_id,
    createdAt: created_at,
  }))
}
