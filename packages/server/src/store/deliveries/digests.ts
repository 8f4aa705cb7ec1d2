import { sql } from 'kysely'
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
  ({ row, fromRows, isPostgres }) => sql`
    insert into digest_items (api_key, organization_id, user_id, message_id, email, created_at)
    select ${row.apiKey}, ${row.organizationId}, ${row.userId}, ${row.messageId}, ${row.email}, ${row.now}
      ${isPostgres ? fromRows : sql`where true`}
    on conflict (api_key, organization_id, user_id, message_id) do nothing`,
)

/** The next users of the organization whose digest has messages, by id. */
export async function findUsers(
  db: Db,
  apiKey: string,
  organizationId: string,
  { after, limit }: { after: string; limit: number },
): Promise<string[]> {
  const rows = await db
    .selectFrom('digest_items')
    .select('user_id')
    .distinct()
    .where('api_key', '=', apiKey)
    .where('organization_id', '=', organizationId)
    .where('user_id', '>', after)
    .orderBy('user_id')
    .limit(limit)
    .execute()
  return rows.map((row) => row.user_id)
}

/** A digest: the messages for one user, oldest first. */
export interface Digest extends MailUser {
  messageIds: string[]
}

/** Takes up to `maxMessages` messages of each user's digest. */
export async function take(
  db: Db,
  apiKey: string,
  organizationId: string,
  userIds: readonly string[],
  maxMessages: number,
): Promise<Digest[]> {
  const rows = await db
    .selectFrom('digest_items')
    .select(['user_id', 'message_id', 'email'])
    .where('api_key', '=', apiKey)
    .where('organization_id', '=', organizationId)
    .where('user_id', 'in', userIds)
    .orderBy('created_at')
    .orderBy('message_id')
    .execute()
  const digests = new Map<string, Digest>()
  for (const row of rows) {
    const digest = digests.get(row.user_id) ?? { userId: row.user_id, email: row.email, messageIds: [] }
    digests.set(row.user_id, digest)
    if (digest.messageIds.length < maxMessages) digest.messageIds.push(row.message_id)
  }
  for (const { userId, messageIds } of digests.values()) {
    await db
      .deleteFrom('digest_items')
      .where('api_key', '=', apiKey)
      .where('organization_id', '=', organizationId)
      .where('user_id', '=', userId)
      .where('message_id', 'in', messageIds)
      .execute()
  }
  return [...digests.values()]
}
