import { sql } from 'kysely'
import type { Db } from '../engine/db.ts'
import * as deletions from '../deletions.ts'
import type { DeletedAnnotations } from '../deletions.ts'
import type { DeletionIfLarge } from '../notifications/notifications.ts'
import { isSmall } from './removal-size.ts'
import { notificationsAbout } from './removal.ts'

/** Removes the notifications about annotations that this transaction deletes (spec 19.4.2). Very many are removed in steps. */
export async function removeNotificationsAbout(
  db: Db,
  apiKey: string,
  organizationId: string,
  annotations: DeletedAnnotations,
  { deletionId, now, onHidden }: DeletionIfLarge,
): Promise<void> {
  const scope = { organizationId, notificationsAbout: annotations }
  if (await isSmall(db, apiKey, scope)) {
    const inOrganization = sql`api_key = ${apiKey} and organization_id = ${organizationId}`
    await sql`delete from notifications where ${notificationsAbout(inOrganization, annotations)}`.execute(db)
    return
  }
  await deletions.add(db, { deletionId, apiKey, scope }, now, { isLeased: false })
  onHidden()
}
