import { breathe } from '../platform/loop-time.ts'
import type { Db } from './db.ts'
import { stringifyData } from './json.ts'
import { type Content, type Filter, fits, inbox, type StoredNotification } from './notification-lists.ts'
import type { Addressee, NewRecipient } from './notification-recipients.ts'
import * as recipients from './notification-recipients.ts'
import { namesOf } from './notification-recipients.ts'
import { slices } from './slices.ts'

/** Adds the notification, or overwrites the one that has its id; it is new and unread then. */
export async function put(
  db: Db,
  apiKey: string,
  { organizationId, id, documentId, content, timestamp }: StoredNotification & { organizationId: string },
  to: AsyncIterable<readonly NewRecipient[]>,
): Promise<void> {
  const columns = {
    document_id: documentId,
    location_id: content.locationId === undefined ? null : String(content.locationId),
    data: stringifyData(content, `notification ${id}`),
    timestamp,
  }
  await db
    .insertInto('notifications')
    .values({ api_key: apiKey, organization_id: organizationId, notification_id: id, ...columns })
    .onConflict((conflict) =>
      conflict.columns(['api_key', 'organization_id', 'notification_id']).doUpdateSet(columns),
    )
    .execute()
  await recipients.replace(db, apiKey, { organizationId, id, timestamp }, to)
}

export async function setContent(
  db: Db,
  apiKey: string,
  { organizationId, id, content }: { organizationId: string; id: string; content: Content },
): Promise<void> {
  await breathe()
  await db
    .updateTable('notifications')
    .set({ data: stringifyData(content, `notification ${id}`) })
    .where('api_key', '=', apiKey)
    .where('organization_id', '=', organizationId)
    .where('notification_id', '=', id)
    .execute()
}

/** What callers said of the organization and of these documents, as JSON. */
export async function surroundings(
  db: Db,
  apiKey: string,
  organizationId: string,
  documentIds: readonly string[],
): Promise<{ organization: string | undefined; documents: Map<string, string> }> {
  const organization = await db
    .selectFrom('organizations')
    .select('data')
    .where('api_key', '=', apiKey)
    .where('organization_id', '=', organizationId)
    .executeTakeFirst()
  const documents = await db
    .selectFrom('documents')
    .select(['document_id', 'data'])
    .where('api_key', '=', apiKey)
    .where('organization_id', '=', organizationId)
    .where('document_id', 'in', documentIds)
    .execute()
  return {
    organization: organization?.data,
    documents: new Map(documents.map((row) => [row.document_id, row.data])),
  }
}

/** Removes what fits, and tells which. */
export async function remove(db: Db, apiKey: string, filter: Filter): Promise<ReadonlySet<string>> {
  const rows = await db
    .deleteFrom('notifications')
    .where(fits(apiKey, filter))
    .returning('notification_id')
    .execute()
  return new Set(rows.map((row) => row.notification_id))
}

/** Takes what fits from the user, and tells which. What has no recipient any more is removed. */
export async function removeForUser(
  db: Db,
  apiKey: string,
  filter: Filter & { user: Addressee },
): Promise<ReadonlySet<string>> {
  const { organizationId, user } = filter
  const found = new Set<string>()
  for (const name of namesOf(user)) {
    const rows = await inbox(db, apiKey, filter, name).select('notifications.notification_id').execute()
    for (const row of rows) found.add(row.notification_id)
  }
  for (const ids of slices([...found])) {
    const those = fits(apiKey, { organizationId, ids })
    // Writes the rows, so that two who take the last two recipients collide: else each would leave one for the other.
    await db
      .updateTable('notifications')
      .set((eb) => ({ timestamp: eb.ref('timestamp') }))
      .where(those)
      .execute()
    await recipients.remove(db, apiKey, organizationId, ids, namesOf(user))
    await db
      .deleteFrom('notifications')
      .where(those)
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
  }
  return found
}
