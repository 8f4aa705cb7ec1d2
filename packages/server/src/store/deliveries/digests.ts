import { type RawBuilder, sql } from 'kysely'
import { batched } from '../engine/batched.ts'
import type { Db } from '../engine/db.ts'

/** A user, and the address that the mails go to. */
export interface MailUser {
  userId: string
  email: string
}

/** Puts the message into the next digest of each user. */
export async function add(
  db: Db,
  apiKey: string,
  organizationId: string,
  messageId: string,
  users: readonly MailUser[],
  now: number,
): Promise<void> {
  await insert(
    db,
    users.map(({ userId, email }) => ({ apiKey, organizationId, userId, messageId, email, now })),
  )
}

const insert = batched(
  { apiKey: 'text', organizationId: 'text', userId: 'text', messageId: 'text', email: 'text', now: 'bigint' },
  ({ row, fromRows }) => sql`
    insert into digest_items (api_key, organization_id, user_id, message_id, email, created_at)
    select ${row.apiKey}, ${row.organizationId}, ${row.userId}, ${row.messageId}, ${row.email}, ${row.now}
      ${fromRows}
    where true
    on conflict (api_key, organization_id, user_id, message_id) do nothing`,
)

/** Some users of the organization whose digest has messages, by id. An index finds each, however many messages wait. */
export async function findUsers(
  db: Db,
  apiKey: string,
  organizationId: string,
  limit: number,
): Promise<string[]> {
  const next = (after: RawBuilder<unknown>) => sql`(
    select i.user_id from digest_items i
    where i.api_key = ${apiKey} and i.organization_id = ${organizationId} and i.user_id > ${after}
    order by i.user_id limit 1)`
  const { rows } = await sql<{ user_id: string }>`
    with recursive found(user_id, position) as (
      select ${next(sql`''`)}, 1
      union all
      select ${next(sql`found.user_id`)}, position + 1
      from found where user_id is not null and position < ${sql.lit(limit)}
    )
    select user_id from found where user_id is not null`.execute(db)
  return rows.map((row) => row.user_id)
}

/** A digest: messages for one user, oldest first. */
export interface Digest extends MailUser {
  messageIds: string[]
}

/** The next digest of the user, with up to `maxMessages` messages. Undefined: no message waits. */
export async function find(
  db: Db,
  apiKey: string,
  organizationId: string,
  userId: string,
  maxMessages: number,
): Promise<Digest | undefined> {
  const rows = await db
    .selectFrom('digest_items')
    .select(['message_id', 'email'])
    .where('api_key', '=', apiKey)
    .where('organization_id', '=', organizationId)
    .where('user_id', '=', userId)
    .orderBy('created_at')
    .orderBy('message_id')
    .limit(maxMessages)
    .execute()
  const [first] = rows
  return first && { userId, email: first.email, messageIds: rows.map((row) => row.message_id) }
}

/** Removes messages from the digests of the users. */
export async function remove(
  db: Db,
  apiKey: string,
  organizationId: string,
  userIds: readonly string[],
  messageIds: readonly string[],
): Promise<void> {
  await db
    .deleteFrom('digest_items')
    .where('api_key', '=', apiKey)
    .where('organization_id', '=', organizationId)
    .where('user_id', 'in', userIds)
    .where('message_id', 'in', messageIds)
    .execute()
}
