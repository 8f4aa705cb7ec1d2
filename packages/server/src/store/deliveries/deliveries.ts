import { sql } from 'kysely'
import { batched } from '../engine/batched.ts'
import type { Db } from '../engine/db.ts'
import { parse } from '../engine/json.ts'
import type { DeliveryMessageTable, DeliveryTable } from '../schema/delivery-tables.ts'

export type Channel = DeliveryTable['channel']
export type DeliveryStatus = DeliveryTable['status']

/** What is delivered, once for all receivers. */
export interface Message {
  messageId: string
  event: string
  data: unknown
}

export interface NewDelivery {
  deliveryId: string
  messageId: string
  channel: Channel
  /** The id of an endpoint, the name of a URL of the basic webhook, or an email address. */
  target: string
  userId?: string | null
  event: string
}

/** A delivery, and what its message says. */
export interface Delivery extends Required<NewDelivery> {
  apiKey: string
  status: DeliveryStatus
  attempts: number
  /** What the message says. */
  data: unknown
}

/** Adds the message, unless it exists: work that runs again adds it again. */
export async function addMessage(
  db: Db,
  apiKey: string,
  { messageId, event, data }: Message,
  now: number,
): Promise<void> {
  const row: DeliveryMessageTable = {
    api_key: apiKey,
    message_id: messageId,
    event,
    data: JSON.stringify(data),
    created_at: now,
  }
  await db
    .insertInto('delivery_messages')
    .values(row)
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

/** The messages with these ids that exist, oldest first. */
export async function findMessages(
  db: Db,
  apiKey: string,
  messageIds: readonly string[],
): Promise<Message[]> {
  const rows = await db
    .selectFrom('delivery_messages')
    .select(['message_id', 'event', 'data'])
    .where('api_key', '=', apiKey)
    .where('message_id', 'in', messageIds)
    .orderBy('created_at')
    .orderBy('message_id')
    .execute()
  return rows.map((row) => ({ messageId: row.message_id, event: row.event, data: parse(row.data) }))
}

/** Those of the ids that messages have. */
export async function findMessageIds(
  db: Db,
  apiKey: string,
  messageIds: readonly string[],
): Promise<ReadonlySet<string>> {
  const rows = await db
    .selectFrom('delivery_messages')
    .select('message_id')
    .where('api_key', '=', apiKey)
    .where('message_id', 'in', messageIds)
    .execute()
  return new Set(rows.map((row) => row.message_id))
}

/** Adds deliveries that are due now. Those that exist stay as they are: work that runs again adds them again. */
export async function addMany(
  db: Db,
  apiKey: string,
  added: readonly NewDelivery[],
  now: number,
): Promise<void> {
  const rows = added.map(({ deliveryId, messageId, channel, target, userId = null, event }) => ({
    api_key: apiKey,
    delivery_id: deliveryId,
    message_id: messageId,
    channel,
    target,
    user_id: userId,
    event,
    created_at: now,
  }))
  await insert(db, rows)
}

const insert = batched(
  {
    api_key: 'text',
    delivery_id: 'text',
    message_id: 'text',
    channel: 'text',
    target: 'text',
    user_id: 'text',
    event: 'text',
    created_at: 'bigint',
  },
  ({ row, fromRows }) => sql`
    insert into deliveries (api_key, delivery_id, message_id, channel, target, user_id, event, status, attempts, next_at, created_at)
    select ${row.api_key}, ${row.delivery_id}, ${row.message_id}, ${row.channel}, ${row.target}, ${row.user_id}, ${row.event},
      'pending', 0, ${row.created_at}, ${row.created_at} ${fromRows}
    where true
    on conflict (api_key, delivery_id) do nothing`,
)

export async function find(db: Db, apiKey: string, deliveryId: string): Promise<Delivery | undefined> {
  const row = await db
    .selectFrom('deliveries as d')
    .innerJoin('delivery_messages as m', (join) =>
      join.onRef('m.api_key', '=', 'd.api_key').onRef('m.message_id', '=', 'd.message_id'),
    )
    .select(['d.message_id', 'd.channel', 'd.target', 'd.user_id', 'd.event', 'd.status', 'd.attempts'])
    .select('m.data')
    .where('d.api_key', '=', apiKey)
    .where('d.delivery_id', '=', deliveryId)
    .executeTakeFirst()
  return (
    row && {
      apiKey,
      deliveryId,
      messageId: row.message_id,
      channel: row.channel,
      target: row.target,
      userId: row.user_id,
      event: row.event,
      status: row.status,
      attempts: row.attempts,
      data: parse(row.data),
    }
  )
}

/** What an attempt, or the end of a delivery without one, changes. */
interface Recorded {
  status: DeliveryStatus
  attempts: number
  /** When the next attempt is due; null if there is none. */
  nextAt: number | null
  /** Default: as before. */
  target?: string | undefined
  code?: number | undefined
  answer?: string | undefined
  error?: string | undefined
}

export async function record(
  db: Db,
  apiKey: string,
  deliveryId: string,
  { status, attempts, nextAt, target, code, answer, error }: Recorded,
  now: number,
): Promise<void> {
  await db
    .updateTable('deliveries')
    .set({
      status,
      attempts,
      next_at: nextAt,
      last_at: now,
      last_code: code ?? null,
      last_answer: answer ?? null,
      last_error: error ?? null,
      ...(target !== undefined && { target }),
    })
    .where('api_key', '=', apiKey)
    .where('delivery_id', '=', deliveryId)
    .execute()
}

/** Makes deliveries due now, as if they had never been tried. Returns those that exist. */
export async function restart(
  db: Db,
  apiKey: string,
  deliveryIds: readonly string[],
  now: number,
): Promise<Pick<Delivery, 'deliveryId' | 'channel' | 'target'>[]> {
  if (deliveryIds.length === 0) return []
  const rows = await db
    .updateTable('deliveries')
    .set({ status: 'pending', attempts: 0, next_at: now })
    .where('api_key', '=', apiKey)
    .where('delivery_id', 'in', deliveryIds)
    .returning(['delivery_id', 'channel', 'target'])
    .execute()
  return rows.map((row) => ({ deliveryId: row.delivery_id, channel: row.channel, target: row.target }))
}

/** A message may have 256 KiB. */
const maxPrunedMessages = 20

/**
 * Deletes some of the deliveries of messages that were added before this time, except pending ones, and then messages without
 * deliveries. One message may have very many.
 */
export async function prune(db: Db, before: number, maxRows: number): Promise<number> {
  const ofMessage = sql<boolean>`d.api_key = m.api_key and d.message_id = m.message_id`
  const ended = sql`
    select d.api_key, d.delivery_id from delivery_messages m join deliveries d on ${ofMessage}
    where m.created_at < ${before} and d.status <> 'pending' limit ${sql.lit(maxRows)}`
  const deliveries = await sql`
    delete from deliveries where (api_key, delivery_id) in (${ended})`.execute(db)
  if (deliveries.numAffectedRows === BigInt(maxRows)) return maxRows
  const empty = sql`
    select m.api_key, m.message_id from delivery_messages m
    where m.created_at < ${before} and not exists (select 1 from deliveries d where ${ofMessage})
    limit ${sql.lit(maxPrunedMessages)}`
  const messages = await sql`
    delete from delivery_messages where (api_key, message_id) in (${empty})`.execute(db)
  return Number((deliveries.numAffectedRows ?? 0n) + (messages.numAffectedRows ?? 0n))
}
