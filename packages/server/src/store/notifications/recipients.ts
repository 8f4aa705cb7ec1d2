import { type Expression, expressionBuilder, type RawBuilder, sql, type SqlBool } from 'kysely'
import { yieldIfLate } from '../../platform/turns/loop-time.ts'
import { batched } from '../engine/batched.ts'
import type { Cursor, Db } from '../engine/db.ts'
import { organizationLevel } from '../access/grants.ts'
import type { Schema } from '../schema/schema.ts'
import { slices } from '../engine/slices.ts'
import { sqliteOf } from '../engine/prepared.ts'

/** A user, or an address without a known user. */
export type Recipient = { userId: string; email: string | null } | { userId: null; email: string }

export type NewRecipient = Recipient & {
  /** Whether the caller named the recipient. Then the notification is in the recipient's personal list. */
  named: boolean
}

/** A user with id and, if known, email address. Notifications from before the user existed are stored under the address. */
export type Addressee = Extract<Recipient, { userId: string }>

/** One statement reads or writes this many rows, in about 5 ms on SQLite. */
const rowsPerStatement = 200

/** Replaces the recipients of the notification. */
export async function replace(
  db: Db,
  apiKey: string,
  notification: { organizationId: string; key: string; timestamp: number },
  recipients: AsyncIterable<readonly NewRecipient[]>,
): Promise<void> {
  await db
    .deleteFrom('notification_recipients')
    .where('api_key', '=', apiKey)
    .where('organization_id', '=', notification.organizationId)
    .where('notification_id', '=', notification.key)
    .execute()
  for await (const some of recipients) await add(db, apiKey, notification, some)
}

/** Adds recipients. The notification must not have them yet. */
export async function add(
  db: Db,
  apiKey: string,
  { organizationId, key, timestamp }: { organizationId: string; key: string; timestamp: number },
  recipients: readonly NewRecipient[],
): Promise<void> {
  for (let start = 0; start < recipients.length; start += rowsPerStatement) {
    await yieldIfLate()
    const rows = recipients.slice(start, start + rowsPerStatement).map(({ userId, email, named }) => ({
      apiKey,
      organizationId,
      key,
      recipient: userId ?? email,
      byEmail: userId === null ? 1 : 0,
      email,
      named: named ? 1 : 0,
      timestamp,
    }))
    await insert(db, rows)
  }
}

const insert = batched(
  {
    apiKey: 'text',
    organizationId: 'text',
    key: 'text',
    recipient: 'text',
    byEmail: 'bigint',
    email: 'text',
    named: 'bigint',
    timestamp: 'bigint',
  },
  ({ row, fromRows }) => sql`
    insert into notification_recipients
      (api_key, organization_id, notification_id, recipient, by_email, email, named, is_read, for_you, timestamp)
    select ${row.apiKey}, ${row.organizationId}, ${row.key}, ${row.recipient}, ${row.byEmail}, ${row.email},
      ${row.named}, 0, ${row.named}, ${row.timestamp} ${fromRows}`,
)

/** The members of the organization whose grant has not expired, one page at a time, by id. */
export async function listMembers(
  db: Db,
  apiKey: string,
  organizationId: string,
  now: number,
  { after, limit }: { after: string; limit: number },
): Promise<string[]> {
  await yieldIfLate()
  const { type, id } = organizationLevel(organizationId)
  const rows = await db
    .selectFrom('grants')
    .select('user_id')
    .where('api_key', '=', apiKey)
    .where('organization_id', '=', organizationId)
    .where('resource_type', '=', type)
    .where('resource_id', '=', id)
    .where((eb) => eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', Math.floor(now / 1000))]))
    .where('user_id', '>', after)
    .orderBy('user_id')
    .limit(limit)
    .execute()
  return rows.map((row) => row.user_id)
}

export async function findUsers(db: Db, apiKey: string, userIds: readonly string[]): Promise<Addressee[]> {
  if (userIds.length === 0) return []
  await yieldIfLate()
  const { rows } = await sql<{ user_id: string; email: string | null }>`
    select user_id, email from ${usersById(db)}
    where api_key = ${apiKey} and user_id in (${sql.join(userIds)})`.execute(db)
  return rows.map(toAddressee)
}

/**
 * The users table for look-ups by id. Without the hint SQLite, which has no statistics, would read the addresses of all users
 * of the API key from the index `users_by_email_user_id` if there are many ids. The name is that of the primary key.
 */
export const usersById = (db: Db): RawBuilder<unknown> =>
  sqliteOf(db) ? sql`users indexed by sqlite_autoindex_users_1` : sql`users`

/** The users with one of these lower-case addresses, in pages: many users may share an address. */
export async function* findByEmail(
  db: Db,
  apiKey: string,
  emails: readonly string[],
): AsyncGenerator<Addressee[]> {
  if (emails.length === 0) return
  await yieldIfLate()
  const some = users(db, apiKey).where('email', 'in', emails)
  const rows = await some.limit(rowsPerStatement + 1).execute()
  if (rows.length <= rowsPerStatement) return yield rows.map(toAddressee)
  if (emails.length > 1) {
    const middle = emails.length >> 1
    yield* findByEmail(db, apiKey, emails.slice(0, middle))
    yield* findByEmail(db, apiKey, emails.slice(middle))
    return
  }
  for (let after = '', found = rowsPerStatement; found === rowsPerStatement;) {
    await yieldIfLate()
    const page = await some.where('user_id', '>', after).orderBy('user_id').limit(rowsPerStatement).execute()
    found = page.length
    after = page.at(-1)?.user_id ?? after
    yield page.map(toAddressee)
  }
}

/** Whether more than `max` users have one of these lower-case addresses. */
export async function haveMoreUsersThan(
  db: Db,
  apiKey: string,
  emails: readonly string[],
  max: number,
): Promise<boolean> {
  if (emails.length === 0) return false
  const owners = await users(db, apiKey)
    .where('email', 'in', emails)
    .limit(max + 1)
    .execute()
  return owners.length > max
}

const users = (db: Db, apiKey: string) =>
  db.selectFrom('users').select(['user_id', 'email']).where('api_key', '=', apiKey)

const toAddressee = (row: { user_id: string; email: string | null }): Addressee => ({
  userId: row.user_id,
  email: row.email,
})

export async function findAddressee(db: Db, apiKey: string, userId: string): Promise<Addressee> {
  const [known] = await findUsers(db, apiKey, [userId])
  return known ?? { userId, email: null }
}

/** The recipients that the caller named, by the key of the notification. */
export async function findNamed(
  db: Db,
  apiKey: string,
  organizationId: string,
  keys: readonly string[],
): Promise<Map<string, Recipient[]>> {
  const rows = await select(db, apiKey, organizationId, keys)
    // A literal: with a parameter SQLite would not use the index of named recipients.
    .where('named', '=', sql.lit(1))
    .execute()
  const found = new Map<string, Recipient[]>()
  for (const row of rows) {
    const list = found.get(row.notification_id)
    if (list) list.push(toRecipient(row))
    else found.set(row.notification_id, [toRecipient(row)])
  }
  return found
}

/** The next recipients of a notification. Returns `next` if there may be more behind it. */
export async function findSome(
  db: Db,
  apiKey: string,
  { organizationId, key }: { organizationId: string; key: string },
  { after, limit }: { after: Cursor | undefined; limit: number },
): Promise<{ recipients: Recipient[]; next: Cursor | undefined }> {
  await yieldIfLate()
  let query = select(db, apiKey, organizationId, [key]).orderBy('recipient').orderBy('by_email').limit(limit)
  if (after) query = query.where(sql<boolean>`(recipient, by_email) > (${sql.join(after)})`)
  const rows = await query.execute()
  const last = rows.length === limit ? rows.at(-1) : undefined
  return { recipients: rows.map(toRecipient), next: last && [last.recipient, last.by_email] }
}

/** Marks the notification as read for these users; `keep` leaves it in their personal lists. */
export async function markRead(
  db: Db,
  apiKey: string,
  { organizationId, key }: { organizationId: string; key: string },
  userIds: readonly string[],
  keep: boolean,
): Promise<void> {
  await yieldIfLate()
  await db
    .updateTable('notification_recipients')
    .set({ is_read: 1, ...(!keep && { for_you: 0 }) })
    .where('api_key', '=', apiKey)
    .where('organization_id', '=', organizationId)
    .where('notification_id', '=', key)
    .where((eb) => {
      const emails = sql<string>`(
        select email from ${usersById(db)}
        where api_key = ${apiKey} and user_id in (${sql.join(userIds)}) and email is not null)`
      return eb.or([
        eb.and([eb('by_email', '=', 0), eb('recipient', 'in', userIds)]),
        eb.and([eb('by_email', '=', 1), eb('recipient', 'in', emails)]),
      ])
    })
    .execute()
}

/** Removes these recipients from these notifications. */
export async function remove(
  db: Db,
  apiKey: string,
  organizationId: string,
  keys: readonly string[],
  from: readonly Recipient[],
): Promise<void> {
  for (const some of slices(from)) {
    await db
      .deleteFrom('notification_recipients')
      .where('api_key', '=', apiKey)
      .where('organization_id', '=', organizationId)
      .where('notification_id', 'in', keys)
      .where(isOneOf(some))
      .execute()
  }
}

/**
 * Removes the user from these notifications, and removes those that have no recipient left. Returns the public ids of all
 * these notifications.
 */
export async function removeFrom(
  db: Db,
  apiKey: string,
  organizationId: string,
  keys: readonly string[],
  user: Addressee,
): Promise<string[]> {
  const eb = expressionBuilder<Schema, 'notifications'>()
  const isOneOfThese = eb.and([
    eb('api_key', '=', apiKey),
    eb('organization_id', '=', organizationId),
    eb('notification_id', 'in', keys),
  ])
  // Updates the rows, so that two transactions that remove the last two recipients collide. Otherwise each would see one left.
  const rows = await db
    .updateTable('notifications')
    .set((eb) => ({ timestamp: eb.ref('timestamp') }))
    .where(isOneOfThese)
    .returning('public_id')
    .execute()
  await remove(db, apiKey, organizationId, keys, namesOf(user))
  await db
    .deleteFrom('notifications')
    .where(isOneOfThese)
    .where((eb) =>
      eb.not(
        eb.exists(
          eb
            .selectFrom('notification_recipients')
            .select('recipient')
            .whereRef('notification_recipients.api_key', '=', 'notifications.api_key')
            .whereRef('notification_recipients.organization_id', '=', 'notifications.organization_id')
            .whereRef('notification_recipients.notification_id', '=', 'notifications.notification_id'),
        ),
      ),
    )
    .execute()
  return rows.flatMap((row) => row.public_id ?? [])
}

/** The names under which a user may be stored as a recipient: the id and, if known, the address. */
export const namesOf = ({ userId, email }: Addressee): readonly Recipient[] =>
  email === null
    ? [{ userId, email }]
    : [
        { userId, email },
        { userId: null, email },
      ]

export function isOneOf(recipients: readonly Recipient[]): Expression<SqlBool> {
  const eb = expressionBuilder<Schema, 'notification_recipients'>()
  const userIds = recipients.flatMap(({ userId }) => userId ?? [])
  const emails = recipients.flatMap(({ userId, email }) => (userId === null ? email : []))
  const among = (byEmail: 0 | 1, names: readonly string[]) =>
    names.length === 0 ? [] : [eb.and([eb('by_email', '=', byEmail), eb('recipient', 'in', names)])]
  return eb.or([...among(0, userIds), ...among(1, emails)])
}

const select = (db: Db, apiKey: string, organizationId: string, keys: readonly string[]) =>
  db
    .selectFrom('notification_recipients')
    .select(['notification_id', 'recipient', 'by_email', 'email'])
    .where('api_key', '=', apiKey)
    .where('organization_id', '=', organizationId)
    .where('notification_id', 'in', keys)

const toRecipient = (row: { recipient: string; by_email: number; email: string | null }): Recipient =>
  row.by_email === 1 ? { userId: null, email: row.recipient } : { userId: row.recipient, email: row.email }
