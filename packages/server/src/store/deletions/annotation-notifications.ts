import { sql } from 'kysely'
import type { Db } from '../engine/db.ts'
import * as deletions from '../deletions.ts'
import type { DeletedAnnotations } from '../deletions.ts'
import type { DeletionIfLarge } from '../notifications/notifications.ts'
import { isSmall } from './removal-size.ts'
import { notificationsAbout } from './removal.ts'

/**
 * Removes the notifications about annotations that this transaction deletes (spec 19.4.2). Very many are removed in steps.
 * Returns false if there are none.
 */
export async function removeNotificationsAbout(
  db: Db,
  apiKey: string,
  organizationId: string,
  annotations: DeletedAnnotations,
  { deletionId, now, onHidden }: DeletionIfLarge,
): Promise<boolean> {
  const scope = { organizationId, notificationsAbout: annotations }
  if (await isSmall(db, apiKey, scope)) {
    const inOrganization = sql`api_key = ${apiKey} and organization_id = ${organizationId}`
    const removed =
      await sql`delete from notifications where ${notificationsAbout(inOrganization, annotations)}`.execute(
        db,
      )
    return (removed.numAffectedRows ?? 0n) > 0n
  }
  await deletions.add(db, { deletionId, apiKey, scope }, now, { isLeased: false })
  onHidden()
  return true
}
