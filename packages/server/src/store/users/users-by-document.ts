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
  isBehind,
  columnList,
  cursorOf,
  type Step,
  walk,
  type Window,
} from './grant-walk.ts'
import { grantsByUser, type Level } from '../access/grants.ts'
import type { Member, MemberPage } from './member.ts'

/**
 * The users of every document, ordered by document, then by the time of their grant, then by user id. Reads in short steps: a
 * user, a group and an organization may have very many grants.
 */
export async function listUsersByDocument(
  db: Db,
  apiKey: string,
  { organizationId }: Level,
  page: MemberPage,
): Promise<Member[]> {
  const { filter, now, query } = page
  const grants = grantsOf(apiKey, organizationId, now, ['resource_id', 'created_at', 'user_id'])
  const few = await query(() => findFew(db, grants, filter))
  return collect(db, apiKey, page, (window) =>
    few
      ? amongUsers(db, grants, few, window)
      : walk(db, grants, sql`resource_type = 'document'`, filter, window),
  )
}

/**
 * Reads the next grants of each user, in the order of the documents. Returns the rows up to the first document behind which a
 * user may have unread grants.
 */
async function amongUsers(
  db: Db,
  { inOrganization, isLive, order }: Grants,
  userIds: readonly string[],
  { after, limit }: Window,
): Promise<Step> {
  if (userIds.length === 0) return { rows: [], last: undefined }
  const grantsPerUser = Math.max(20, Math.ceil(limit / userIds.length))
  // The document that the last step ended with may have more users.
  const fromDocument = after ? sql`resource_id >= ${after[0]}` : sql`1 = 1`
  const ofUser = (userId: string) => sql`
    select * from (
      select ${columns}, expires_at from ${grantsByUser(db)}
      where ${inOrganization} and user_id = ${userId} and resource_type = 'document' and ${fromDocument}
      order by resource_id limit ${sql.lit(grantsPerUser)}) as theirs`
  const { rows } = await sql<FlaggedRow>`
    select ${columns}, ${flag(sql`${isLive} and ${isBehind(order, after)}`)} as fits
    from (${sql.join(userIds.map(ofUser), sql` union all `)}) as found
    order by ${columnList(order)}`.execute(db)
  const grantsRead = new Map<string, number>()
  for (const [index, row] of rows.entries()) {
    const count = (grantsRead.get(row.user_id) ?? 0) + 1
    grantsRead.set(row.user_id, count)
    // This user may have unread grants that belong before the following rows.
    if (count === grantsPerUser) return { rows: rows.slice(0, index + 1), last: cursorOf(order, row) }
  }
  return { rows, last: undefined }
}
