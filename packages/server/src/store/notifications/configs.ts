import type { NotificationPreferences } from '@plenum/protocol'
import { breathe } from '../../platform/turns/loop-time.ts'
import type { Db } from '../engine/db.ts'
import { inLockOrder } from '../engine/lock-order.ts'
import { parse } from '../engine/json.ts'
import { slices } from '../engine/slices.ts'

/** Stands for the organization where a document's id would. */
const organizationDefault = ''

/** What users chose in one organization. */
export interface Choices {
  /** Channel by channel: the document's, else the organization's, else everything. */
  effective(userId: string, documentId?: string): NotificationPreferences
}

const everything: NotificationPreferences = { inbox: 'ALL', email: 'ALL' }

/** What was chosen for these documents and for the organization, by these users or by all. */
export async function find(
  db: Db,
  apiKey: string,
  organizationId: string,
  documentIds: readonly string[],
  userIds?: readonly string[],
): Promise<Choices> {
  const stored = await findStored(db, apiKey, organizationId, [organizationDefault, ...documentIds], userIds)
  return {
    effective: (userId, documentId) => ({
      ...everything,
      ...stored.get(keyOf(userId, organizationDefault)),
      ...(documentId !== undefined && stored.get(keyOf(userId, documentId))),
    }),
  }
}

/**
 * Lays the channels over what each user chose before, for each document or, without documents, for the organization.
 * Tells the largest number of channels that anybody has now.
 */
export async function put(
  db: Db,
  apiKey: string,
  organizationId: string,
  { userIds, documentIds }: { userIds: readonly string[]; documentIds?: readonly string[] },
  config: NotificationPreferences,
): Promise<number> {
  let most = 0
  for (const documentId of documentIds ?? [organizationDefault]) {
    const stored = await findStored(db, apiKey, organizationId, [documentId], userIds)
    const rows = userIds.map((userId) => {
      const merged = { ...stored.get(keyOf(userId, documentId)), ...config }
      most = Math.max(most, Object.keys(merged).length)
      return {
        api_key: apiKey,
        organization_id: organizationId,
        document_id: documentId,
        user_id: userId,
        config: JSON.stringify(merged),
      }
    })
    for (const some of slices(inLockOrder(rows, (row) => `${row.document_id}\0${row.user_id}`))) {
      await db
        .insertInto('notification_configs')
        .values(some)
        .onConflict((conflict) =>
          conflict
            .columns(['api_key', 'organization_id', 'document_id', 'user_id'])
            .doUpdateSet((eb) => ({ config: eb.ref('excluded.config') })),
        )
        .execute()
    }
  }
  return most
}

const keyOf = (userId: string, documentId: string) => JSON.stringify([userId, documentId])

async function findStored(
  db: Db,
  apiKey: string,
  organizationId: string,
  documentIds: readonly string[],
  userIds?: readonly string[],
): Promise<Map<string, NotificationPreferences>> {
  if (userIds?.length === 0) return new Map()
  await breathe()
  const rows = await db
    .selectFrom('notification_configs')
    .select(['user_id', 'document_id', 'config'])
    .where('api_key', '=', apiKey)
    .where('organization_id', '=', organizationId)
    .where('document_id', 'in', documentIds)
    .$if(userIds !== undefined, (query) => query.where('user_id', 'in', userIds ?? []))
    .execute()
  return new Map(rows.map((row) => [keyOf(row.user_id, row.document_id), parse(row.config)]))
}
