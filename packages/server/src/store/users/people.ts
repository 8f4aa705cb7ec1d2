import { type RawBuilder, sql } from 'kysely'
import type { User } from '@plenum/protocol'
import { mapYielding } from '../../platform/turns/loop-time.ts'
import { grantsByUser } from '../access/grants.ts'
import type { Db } from '../engine/db.ts'
import { parse } from '../engine/json.ts'
import { toUser } from './profiles.ts'

export interface PeopleWindow {
  userIds?: readonly string[] | undefined
  /** The list goes on behind this id. */
  after: string
  /** Users to look at, of whom some may be no people of the organization any more. */
  limit: number
  now: number
}

interface Row {
  user_id: string
  profile: string | null
  belongs: number
}

/**
 * The next users who belong to the organization, in the order of their ids: those with a grant there that has not ended, and those
 * who take part in one of its threads. Jumps from user to user: few rows of each are read, however many there are. `last`: the
 * list goes on behind it.
 */
export async function listPeople(
  db: Db,
  apiKey: string,
  organizationId: string,
  { userIds, after, limit, now }: PeopleWindow,
): Promise<{ people: User[]; last: string | undefined }> {
  if (userIds?.length === 0) return { people: [], last: undefined }
  const inOrganization = sql<boolean>`api_key = ${apiKey} and organization_id = ${organizationId}`
  const grants = grantsByUser(db)
  const { rows } = await sql<Row>`
    with recursive ${userIds ? named(userIds) : jumps(grants, inOrganization, after, limit)}
    select candidates.user_id,
      (select profile from users where api_key = ${apiKey} and users.user_id = candidates.user_id) as profile,
      case when exists (
        select 1 from ${grants}
        where ${inOrganization} and grants.user_id = candidates.user_id
          and (expires_at is null or expires_at > ${Math.floor(now / 1000)})
      ) or exists (
        select 1 from annotation_users where ${inOrganization} and annotation_users.user_id = candidates.user_id
      ) then 1 else 0 end as belongs
    from candidates where user_id is not null
    order by user_id`.execute(db)
  const found = rows.filter(({ belongs }) => belongs === 1)
  const people = await mapYielding(found, (row) => toUser(row.user_id, parse(row.profile ?? '{}')))
  return { people, last: !userIds && rows.length === limit ? rows.at(-1)?.user_id : undefined }
}

/** Whether the user has a stored grant in the organization, on any level, that has not ended. */
export async function hasGrant(
  db: Db,
  apiKey: string,
  organizationId: string,
  userId: string,
  now: number,
): Promise<boolean> {
  const { rows } = await sql`
    select 1 from ${grantsByUser(db)}
    where api_key = ${apiKey} and organization_id = ${organizationId} and user_id = ${userId}
      and (expires_at is null or expires_at > ${Math.floor(now / 1000)})
    limit 1`.execute(db)
  return rows.length > 0
}

const named = (userIds: readonly string[]) =>
  sql`candidates(user_id) as (values ${sql.join(userIds.map((userId) => sql`(${userId})`))})`

/** A `with` clause for the next users with a grant or a thread. A null row means: no more users. */
function jumps(
  grants: RawBuilder<unknown>,
  inOrganization: RawBuilder<boolean>,
  after: string,
  limit: number,
): RawBuilder<unknown> {
  const first = (table: RawBuilder<unknown>, than: RawBuilder<unknown>) => sql`
    select user_id from (
      select user_id from ${table} where ${inOrganization} and user_id > ${than} order by user_id limit 1) as one`
  const next = (than: RawBuilder<unknown>) => sql`
    (select min(user_id) from (
      ${first(grants, than)} union all ${first(sql`annotation_users`, than)}) as next_users)`
  return sql`
    candidates(user_id, number) as (
      select ${next(sql`${after}`)}, 1
      union all
      select ${next(sql`candidates.user_id`)}, number + 1 from candidates
      where candidates.user_id is not null and number < ${sql.lit(limit)})`
}
