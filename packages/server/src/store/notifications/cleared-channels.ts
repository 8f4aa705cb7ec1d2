import type { NotificationPreferences } from '@plenum/protocol'
import type { Db } from '../engine/db.ts'
import { inLockOrder } from '../engine/lock-order.ts'
import { parse } from '../engine/json.ts'

/** Each is on another page of the database: about 5 ms on SQLite for all, with the longest ids. */
const rowsPerStep = 20

/**
 * Removes the choices of a user for single documents on one channel, so that the choice for the organization applies to all
 * of them. Clears some documents after `after`. Returns where to continue; undefined: none is left.
 */
export async function clearChannel(
  db: Db,
  apiKey: string,
  organizationId: string,
  userId: string,
  channel: string,
  after: string,
): Promise<string | undefined> {
  const rows = await db
    .selectFrom('notification_configs')
    .select(['document_id', 'config'])
    .where('api_key', '=', apiKey)
    .where('organization_id', '=', organizationId)
    .where('user_id', '=', userId)
    // The choice for the organization has an empty document id.
    .where('document_id', '>', after)
    .orderBy('document_id')
    .limit(rowsPerStep)
    .execute()
  for (const row of inLockOrder(rows, ({ document_id }) => document_id)) {
    const { [channel]: cleared, ...others } = parse<NotificationPreferences>(row.config)
    if (cleared === undefined) continue
    await db
      .updateTable('notification_configs')
      .set({ config: JSON.stringify(others) })
      .where('api_key', '=', apiKey)
      .where('organization_id', '=', organizationId)
      .where('document_id', '=', row.document_id)
      .where('user_id', '=', userId)
      .execute()
  }
  return rows.length === rowsPerStep ? rows.at(-1)?.document_id : undefined
}
