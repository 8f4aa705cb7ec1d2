import { sql } from 'kysely'
import type { Db } from '../engine/db.ts'
import {
  collect,
  columns,
  findFew,
  flag,
  type FlaggedRow,
  type Grants,
  grantsOf,
  hasFewMembers,
  inGroups,
  isBehind,
  cursorOf,
  type Step,
  walk,
  type Window,
} from './grant-walk.ts'
import type { Level } from '../access/grants.ts'
import type { Member, MemberPage } from './member.ts'

/** The users of a level, by the time of their grant, then id. Reads in short steps: a level may have very many users. */
export async function listAtLevel(db: Db, apiKey: string, level: Level, page: MemberPage): Promise<Member[]> {
  const { filter, now, query } = page
  const grants = grantsOf(apiKey, level.organizationId, now, ['created_at', 'user_id'])
  const few = await query(() => findFew(db, grants, filter))
  const atThisLevel = sql<boolean>`resource_type = ${level.type} and resource_id = ${level.id}`
  const { groupIds } = filter
  const areFewMembers =
    !few && groupIds !== undefined && (await query(() => hasFewMembers(db, grants, groupIds)))
  return collect(db, apiKey, page, (window) => {
    if (few) return amongUsers(db, grants, atThisLevel, few, window)
    if (areFewMembers) return amongMembers(db, grants, atThisLevel, groupIds, window)
    return walk(db, grants, atThisLevel, filter, window)
  })
}

/** Reads the grants of all members and sorts them. The level may have very many users who are no members. */
async function amongMembers(
  db: Db,
  { inOrganization, isLive, order }: Grants,
  atThisLevel: Grants['isLive'],
  groupIds: readonly string[],
  { after, limit }: Window,
): Promise<Step> {
  // `+ created_at` as in `amongUsers`.
  const { rows } = await sql<FlaggedRow>`
    select ${columns}, 1 as fits from grants
    where ${inOrganization} and ${atThisLevel} and ${isLive} and ${isBehind(order, after)}
      and user_id in (select user_id from user_group_members where ${inOrganization} and ${inGroups(groupIds)})
    order by + created_at, user_id limit ${sql.lit(limit)}`.execute(db)
  const last = rows.length === limit ? rows.at(-1) : undefined
  return { rows, last: last && cursorOf(order, last) }
}

async function amongUsers(
  db: Db,
  { inOrganization, isLive, order }: Grants,
  atThisLevel: Grants['isLive'],
  userIds: readonly string[],
  { after }: Window,
): Promise<Step> {
  if (userIds.length === 0) return { rows: [], last: undefined }
  // `+ created_at` has no index, so SQLite finds the users by their ids and sorts them, instead of scanning all grants.
  const { rows } = await sql<FlaggedRow>`
    select ${columns}, ${flag(sql`${isLive} and ${isBehind(order, after)}`)} as fits from grants
    where ${inOrganization} and ${atThisLevel} and user_id in (${sql.join(userIds)})
    order by + created_at, user_id`.execute(db)
  return { rows, last: undefined }
}
