import { sql } from 'kysely'
import type { RowStep } from '../deletions/row-step.ts'
import { parse } from '../engine/json.ts'
import { scanRows } from './row-scan.ts'

/** Where a message says which organization it is about: webhooks in their metadata, mails beside their content. */
interface AboutOrganization {
  organizationId?: string
  metadata?: { organizationId?: string }
  event?: { organizationId?: string }
}

/**
 * Removes the emails and webhooks that name users or are for them, sent or not, and the jobs from which such would be made.
 * Nobody can read in them any more what the users wrote.
 */
export function removeDeliveries(
  apiKey: string,
  userIds: readonly string[],
  organizationIds: readonly string[] | undefined,
): RowStep[] {
  const names = userIds.map((id) => JSON.stringify(id))
  const isErased = (json: string) => {
    if (!names.some((name) => json.includes(name))) return false
    if (!organizationIds) return true
    const { organizationId, metadata, event } = parse<AboutOrganization>(json)
    return organizationIds.includes(organizationId ?? metadata?.organizationId ?? event?.organizationId ?? '')
  }
  const ids = new Set<string | null>(userIds)
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
      rowsPerStep: 10,
      async visit(db, rows, ofRow) {
        for (const row of rows) {
          if (isErased(row.data)) await sql`delete from delivery_messages where ${ofRow(row)}`.execute(db)
        }
      },
    }),
    scanRows({
      table: 'deliveries',
      key: ['delivery_id'],
      columns: ['user_id'],
      where,
      rowsPerStep: 200,
      async visit(db, rows, ofRow) {
        if (organizationIds) return
        for (const row of rows) {
          if (ids.has(row.user_id)) await sql`delete from deliveries where ${ofRow(row)}`.execute(db)
        }
      },
    }),
  ]
}
