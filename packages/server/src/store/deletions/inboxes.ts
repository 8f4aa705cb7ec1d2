import { type RawBuilder, sql } from 'kysely'
import type { Inbox, LeavingUsers } from '../deletions.ts'
import type { Cursor, Db } from '../engine/db.ts'
import { paceOf } from '../engine/pace.ts'
import { someInInbox } from '../notifications/lists.ts'
import {
  type Addressee,
  findAddressee,
  findUsers,
  namesOf,
  removeFrom,
  usersById,
} from '../notifications/recipients.ts'
import type { RowStep } from './row-step.ts'

/** Steps that remove one user from the notifications that the user received. */
export const emptyInbox = (apiKey: string, organizationId: string, inbox: Inbox): RowStep[] =>
  [false, true].map((byEmail) => emptyPart(apiKey, organizationId, inbox, byEmail))

/**
 * Removes one user from notifications, in the order of the user's list: from those that were sent to the user id or, with
 * `byEmail`, from those that were sent to the user's address.
 */
const emptyPart =
  (apiKey: string, organizationId: string, { userId, ...filter }: Inbox, byEmail: boolean): RowStep =>
  async (db, removed, after) => {
    const user = await findAddressee(db, apiKey, userId)
    const name = namesOf(user).find((one) => (one.userId === null) === byEmail)
    if (!name) return false
    const max = 50 * paceOf(db).factor
    const some = await someInInbox(db, apiKey, { organizationId, ...filter }, name, { max, after })
    if (some.keys.length > 0) removed.push(...(await removeFrom(db, apiKey, organizationId, some.keys, user)))
    return some.next ?? false
  }

/** Steps that empty the inboxes of members who leave the organization (spec 12.4.1). */
export const emptyInboxesOfMembers = (apiKey: string, scope: LeavingUsers): RowStep[] =>
  scope.userIds.flatMap((userId) =>
    emptyInbox(apiKey, scope.organizationId, { userId }).map((empty): RowStep => async (db, _, after) => {
      const { rows } = await sql`
        select user_id from grants where ${areMembers(apiKey, { ...scope, userIds: [userId] })}`.execute(db)
      // The call that removes the users does not need the ids of the notifications.
      return rows.length > 0 && empty(db, [], after)
    }),
  )

/** A condition for the grants that make these users members of the organization. */
export const areMembers = (
  apiKey: string,
  { organizationId, userIds, atSeconds }: LeavingUsers,
): RawBuilder<boolean> => sql`
  api_key = ${apiKey} and organization_id = ${organizationId} and resource_type = 'organization'
  and resource_id = ${organizationId} and user_id in (${sql.join(userIds)})
  and (expires_at is null or expires_at > ${atSeconds})`

/**
 * Conditions for the rows of notifications that the users received: by their ids, and by their addresses. The addresses are
 * not read, because a transaction may remove hundreds of users.
 */
export function receivedBy(
  db: Db,
  apiKey: string,
  organizationId: string,
  userIds: readonly string[],
): RawBuilder<boolean>[] {
  const emails = sql`
    select email from ${usersById(db)}
    where api_key = ${apiKey} and user_id in (${sql.join(userIds)}) and email is not null`
  const received = (names: RawBuilder<unknown>, byEmail: 0 | 1) => sql<boolean>`
    api_key = ${apiKey} and organization_id = ${organizationId} and recipient in (${names})
    and by_email = ${byEmail}`
  return [received(sql.join(userIds), 0), received(emails, 1)]
}

/** Empties the inboxes of users in one transaction. The caller knows that they are small. */
export async function emptySmallInboxes(
  db: Db,
  apiKey: string,
  organizationId: string,
  userIds: readonly string[],
): Promise<void> {
  const names = new Set<string>()
  for (const received of receivedBy(db, apiKey, organizationId, userIds)) {
    const { rows } = await sql<{ recipient: string }>`
      select distinct recipient from notification_recipients where ${received}`.execute(db)
    for (const { recipient } of rows) names.add(recipient)
  }
  if (names.size === 0) return
  const hasInbox = ({ userId, email }: Addressee) => names.has(userId) || (email !== null && names.has(email))
  const known = new Map((await findUsers(db, apiKey, userIds)).map((user) => [user.userId, user]))
  for (const userId of userIds) {
    if (!hasInbox(known.get(userId) ?? { userId, email: null })) continue
    for (const step of emptyInbox(apiKey, organizationId, { userId })) {
      for (let rest: boolean | Cursor = true; rest !== false;) {
        rest = await step(db, [], rest === true ? undefined : rest)
      }
    }
  }
}
