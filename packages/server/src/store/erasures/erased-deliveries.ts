import { sql } from 'kysely'
import { hasWord } from '../../platform/patterns.ts'
import type { RowStep } from '../deletions/row-step.ts'
import { findMessages } from '../deliveries/deliveries.ts'
import type { Db } from '../engine/db.ts'
import { parse } from '../engine/json.ts'
import { paceOf } from '../engine/pace.ts'
import { someRows } from '../engine/some-rows.ts'
import { usersNamedIn } from './named-users.ts'
import { scanRows } from './row-scan.ts'
import type { ErasedIds } from './without-users.ts'

/** A message to a whole organization has very many deliveries, and would delete them with it. */
const maxDeletedDeliveries = 200

/** Where a message says which organization it is about: webhooks in their event, earlier in their metadata. */
interface AboutOrganization {
  organizationId?: string
  metadata?: { organizationId?: string }
  event?: { organizationId?: string }
}

const organizationOf = ({ organizationId, metadata, event }: AboutOrganization) =>
  organizationId ?? metadata?.organizationId ?? event?.organizationId

/**
 * Removes the emails and webhooks that name users or are for them, sent or not, and the jobs from which such would be made.
 * Nobody can read in them any more what the users wrote.
 */
export function removeDeliveries(
  apiKey: string,
  { userIds, addresses }: ErasedIds,
  organizationIds: readonly string[] | undefined,
): RowStep[] {
  const texts = Array.from(userIds, (id) => JSON.stringify(id).slice(1, -1))
  const isErased = (json: string) => {
    if (!texts.some((text) => json.includes(text))) return false
    const data = parse<AboutOrganization>(json)
    if (organizationIds && !organizationIds.includes(organizationOf(data) ?? '')) return false
    // Other texts, such as the id of a document, may equal the id of a user by chance.
    return [...usersNamedIn(data)].some((id) => userIds.has(id))
  }
  const ids = new Set<string | null>(userIds)
  // Also as JSON has them: a receiver may repeat what it got.
  const names = [...userIds, ...texts, ...addresses]
  /** Whether the message is about one of the organizations. */
  const isAboutErased = async (db: Db, messageId: string) => {
    if (!organizationIds) return true
    const [message] = await findMessages(db, apiKey, [messageId])
    return organizationIds.includes(organizationOf(message?.data ?? {}) ?? '')
  }
  const where = sql<boolean>`api_key = ${apiKey}`
  return [
    scanRows({
      table: 'jobs',
      key: ['job_id'],
      columns: ['kind', 'payload'],
      where,
      rowsPerStep: 50,
      async visit(db, rows, ofRow) {
        for (const row of rows) {
          const isEvent = row.kind === 'webhook.dispatch' || row.kind === 'email.prepare'
          if (isEvent && isErased(row.payload)) await sql`delete from jobs where ${ofRow(row)}`.execute(db)
        }
      },
    }),
    scanRows({
      table: 'delivery_messages',
      key: ['message_id'],
      columns: ['data'],
      where,
      // A webhook may have 256 KiB.
      rowsPerStep: 5,
      async visit(db, rows) {
        const erased = rows.filter((row) => isErased(row.data)).map((row) => row.message_id)
        if (erased.length === 0) return
        const ofErased = sql<boolean>`${where} and message_id in (${sql.join(erased)})`
        const max = maxDeletedDeliveries * paceOf(db).factor
        const { numAffectedRows } = await sql`
          delete from deliveries where ${someRows(db, 'deliveries', ofErased, max)}`.execute(db)
        if (numAffectedRows === BigInt(max)) return 'again'
        await sql`delete from delivery_messages where ${ofErased}`.execute(db)
      },
    }),
    scanRows({
      table: 'deliveries',
      key: ['delivery_id'],
      columns: ['user_id', 'message_id', 'last_answer'],
      where,
      rowsPerStep: 200,
      async visit(db, rows, ofRow) {
        for (const row of rows) {
          if (ids.has(row.user_id) && (await isAboutErased(db, row.message_id))) {
            await sql`delete from deliveries where ${ofRow(row)}`.execute(db)
          } else if (row.last_answer !== null && hasWord(row.last_answer, names)) {
            await sql`update deliveries set last_answer = null where ${ofRow(row)}`.execute(db)
          }
        }
      },
    }),
  ]
}
