import { type RawBuilder, sql } from 'kysely'
import { yieldIfLate, mapYielding } from '../../platform/turns/loop-time.ts'
import type { Db } from '../engine/db.ts'
import type { Level } from '../access/grants.ts'
import { parse } from '../engine/json.ts'
import type { Member, MemberFilter, MemberPage } from './member.ts'
import { toUser } from './profiles.ts'

/** Exactly the condition of the index `grants_on_documents`. With another one SQLite would not use the index. */
const onDocuments = sql`resource_type like 'document'`

/**
 * Lists each user of any document once, ordered by id. The users have no role, because roles differ between documents.
 * Reads in short steps, and not every grant: an organization may have very many grants.
 */
export async function listUsersOfDocuments(
  db: Db,
  apiKey: string,
  { organizationId }: Level,
  { filter, limit, after: start, now, query }: MemberPage,
): Promise<Member[]> {
  const inOrganization = sql<boolean>`api_key = ${apiKey} and organization_id = ${organizationId}`
  const nowSeconds = Math.floor(now / 1000)
  const hasGrant = (ends: RawBuilder<unknown>) => sql`
    exists (
      select 1 from grants
      where ${inOrganization} and ${onDocuments} and grants.user_id = candidates.user_id
        and ${ends})`
  const found: Row[] = []
  for (let after = (start?.[0] ?? '') as string; ;) {
    const statement = sql<Row>`
      with recursive ${candidates(inOrganization, filter, after, limit)}
      select candidates.user_id,
        (select profile from users where api_key = ${apiKey} and users.user_id = candidates.user_id) as profile,
        case when ${hasGrant(sql`expires_at is null`)} or ${hasGrant(sql`expires_at > ${nowSeconds}`)}
          then 1 else 0 end as is_live
      from candidates where user_id is not null
      order by user_id`
    const { rows } = await query(() => statement.execute(db))
    found.push(...rows.filter((row) => row.is_live === 1))
    const last = rows.at(-1)
    if (!last || rows.length < limit || found.length >= limit) break
    after = last.user_id
    await yieldIfLate()
  }
  return mapYielding(found.slice(0, limit), ({ user_id, profile }) => ({
    user: toUser(user_id, parse(profile ?? '{}')),
    resourceId: organizationId,
    createdAt: 0,
  }))
}

interface Row {
  user_id: string
  profile: string | null
  is_live: number
}

/** A `with` clause for the next users behind `after` who may have a grant on a document. A null row means: no more users. */
function candidates(
  inOrganization: RawBuilder<boolean>,
  { userIds, groupIds }: MemberFilter,
  after: string,
  limit: number,
): RawBuilder<unknown> {
  const max = sql.lit(limit)
  if (userIds?.length === 0 || groupIds?.length === 0) {
    return sql`candidates(user_id) as (select user_id from users where 1 = 0)`
  }
  const inGroup = (which: RawBuilder<unknown>) => sql`
    select user_id from user_group_members where ${inOrganization} and ${which}`
  if (userIds) {
    const named = sql.join(userIds.map((userId) => sql`(${userId})`))
    const isMember = groupIds
      ? sql`user_id in (${inGroup(sql`group_id in (${sql.join(groupIds)})`)})`
      : sql`1 = 1`
    return sql`
      named(user_id) as (values ${named}),
      candidates(user_id) as (
        select distinct user_id from named where user_id > ${after} and ${isMember} order by user_id limit ${max})`
  }
  if (groupIds) {
    const members = groupIds.map(
      (groupId) => sql`
        select user_id from (
          ${inGroup(sql`group_id = ${groupId} and user_id > ${after}`)} order by user_id limit ${max}) as members`,
    )
    return sql`
      candidates(user_id) as (
        select user_id from (${sql.join(members, sql` union `)}) as members order by user_id limit ${max})`
  }
  // Jumps from user to user: one grant of each user is read, however many there are.
  const next = (than: RawBuilder<unknown>) => sql`
    (select user_id from grants
      where ${inOrganization} and ${onDocuments} and user_id > ${than}
      order by user_id limit 1)`
  return sql`
    candidates(user_id, number) as (
      select ${next(sql`${after}`)}, 1
      union all
      select ${next(sql`candidates.user_id`)}, number + 1 from candidates
      where candidates.user_id is not null and number < ${max})`
}
