import type { User } from '@plenum/protocol'
import { type RawBuilder, sql } from 'kysely'
import { yieldIfLate, mapYielding } from '../../platform/turns/loop-time.ts'
import type { Cursor, Db } from '../engine/db.ts'
import { parse } from '../engine/json.ts'
import { sqliteOf } from '../engine/prepared.ts'
import type { Member, MemberFilter, MemberPage } from './member.ts'
import { toUser } from './profiles.ts'

/** One statement scans this many rows, in about 3 ms on SQLite. */
const rowsPerScan = 1000
/** If a filter by group leaves at most this many users, only the grants of these users are read. */
const maxFewUsers = 30
/** If groups have at most this many members, all their grants are read and sorted, in about 5 ms on SQLite. */
const maxFewMembers = 1000

export interface Row {
  user_id: string
  resource_id: string
  access_role: User['accessRole']
  created_at: number
}

/** A row with a flag: `fits` is 1 if the row belongs to the list, and 0 if not. */
export type FlaggedRow = Row & { fits: number }

export interface Step {
  /** In the order of the list. */
  rows: readonly FlaggedRow[]
  /** The cursor behind which there may be more rows. */
  last: Cursor | undefined
}

/** The rows that a step scans. */
export interface Window {
  after: Cursor | undefined
  limit: number
}

/** SQL conditions for the grants of one organization. */
export interface Grants {
  inOrganization: RawBuilder<boolean>
  isLive: RawBuilder<boolean>
  /** The columns that the list is ordered by. */
  order: readonly (keyof Row)[]
}

export const grantsOf = (
  apiKey: string,
  organizationId: string,
  now: number,
  order: Grants['order'],
): Grants => ({
  inOrganization: sql`api_key = ${apiKey} and organization_id = ${organizationId}`,
  isLive: sql`(expires_at is null or expires_at > ${Math.floor(now / 1000)})`,
  order,
})

/** Repeats `step` until enough rows fit, and returns these users with their profiles. */
export async function collect(
  db: Db,
  apiKey: string,
  { after, limit, query }: MemberPage,
  step: (window: Window) => Promise<Step>,
): Promise<Member[]> {
  const found: Row[] = []
  // Often all of the next rows fit, so the first step scans no more than the page needs.
  for (let window: Window = { after, limit }; ;) {
    const from = window
    const { rows, last } = await query(() => step(from))
    for (const row of rows) if (row.fits === 1) found.push(row)
    if (!last || found.length >= limit) break
    window = { after: last, limit: rowsPerScan }
    await yieldIfLate()
  }
  return query(() => withProfiles(db, apiKey, found.slice(0, limit)))
}

/** Returns the users whom the filter allows, or undefined if there may be many. */
export async function findFew(
  db: Db,
  { inOrganization }: Grants,
  { userIds, groupIds }: MemberFilter,
): Promise<readonly string[] | undefined> {
  if (userIds?.length === 0 || groupIds?.length === 0) return []
  if (!groupIds) return userIds && [...new Set(userIds)]
  const among = userIds ? sql`user_id in (${sql.join(userIds)})` : sql`1 = 1`
  // `+ user_id` has no index, so SQLite reads the members of these groups, instead of all members in the order of their ids.
  const { rows } = await sql<{ user_id: string }>`
    select distinct ${sqliteOf(db) ? sql`+ user_id` : sql`user_id`} as user_id from user_group_members
    where ${inOrganization} and ${inGroups(groupIds)} and ${among}
    limit ${sql.lit(maxFewUsers + 1)}`.execute(db)
  return rows.length <= maxFewUsers ? rows.map((row) => row.user_id) : undefined
}

export const inGroups = (groupIds: readonly string[]) => sql<boolean>`group_id in (${sql.join(groupIds)})`

/** Whether it costs less to read the grants of all members of these groups than to search for them among all grants. */
export async function hasFewMembers(
  db: Db,
  { inOrganization }: Grants,
  groupIds: readonly string[],
): Promise<boolean> {
  const { rows } = await sql<{ members: number }>`
    select count(*) as members from (
      select 1 from user_group_members where ${inOrganization} and ${inGroups(groupIds)}
      limit ${sql.lit(maxFewMembers + 1)}) as found`.execute(db)
  return (rows[0]?.members ?? 0) <= maxFewMembers
}

/** Reads the next grants that match `which`. A row fits if it has not expired and the filter allows its user. */
export async function walk(
  db: Db,
  { inOrganization, isLive, order }: Grants,
  which: RawBuilder<boolean>,
  { groupIds }: MemberFilter,
  { after, limit }: Window,
): Promise<Step> {
  // Not `exists`: for that, PostgreSQL may read all members of the groups into a hash table.
  const isMember = groupIds
    ? sql`(
        select 1 from user_group_members as members
        where ${inOrganization} and ${inGroups(groupIds)} and members.user_id = grants.user_id limit 1) = 1`
    : sql`1 = 1`
  const { rows } = await sql<FlaggedRow>`
    select ${columns}, ${flag(sql`${isLive} and ${isMember}`)} as fits from grants
    where ${inOrganization} and ${which} and ${isBehind(order, after)}
    order by ${columnList(order)} limit ${sql.lit(limit)}`.execute(db)
  const last = rows.length === limit ? rows.at(-1) : undefined
  return { rows, last: last && cursorOf(order, last) }
}

export const columns = sql.raw('user_id, resource_id, access_role, created_at')
export const flag = (condition: RawBuilder<unknown>) => sql`case when ${condition} then 1 else 0 end`
export const columnList = (order: Grants['order']) => sql.raw(order.join(', '))
export const isBehind = (order: Grants['order'], after: Cursor | undefined) =>
  after ? sql<boolean>`(${columnList(order)}) > (${sql.join(after)})` : sql<boolean>`1 = 1`
export const cursorOf = (order: Grants['order'], row: Row): Cursor =>
  order.map((column) => row[column] as string | number)

async function withProfiles(db: Db, apiKey: string, rows: readonly Row[]): Promise<Member[]> {
  if (rows.length === 0) return []
  const stored = await db
    .selectFrom('users')
    .select(['user_id', 'profile'])
    .where('api_key', '=', apiKey)
    .where('user_id', 'in', [...new Set(rows.map((row) => row.user_id))])
    .execute()
  const profiles = new Map(stored.map((row) => [row.user_id, row.profile]))
  return mapYielding(rows, ({ user_id: userId, resource_id, access_role: accessRole, created_at }) => ({
    user: Object.assign(toUser(userId, parse(profiles.get(userId) ?? '{}')), { accessRole }),
    resourceId: resource_id,
    createdAt: created_at,
  }))
}
