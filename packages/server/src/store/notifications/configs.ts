import type { NotificationPreferences } from '@plenum/protocol'
import { yieldIfLate } from '../../platform/turns/loop-time.ts'
import type { Db } from '../engine/db.ts'
import { inLockOrder } from '../engine/lock-order.ts'
import { parse } from '../engine/json.ts'
import { slices } from '../engine/slices.ts'
import type { DocumentRef } from '../refs.ts'

/** The `document_id` of a choice for the whole organization. */
const organizationDefault = ''

/** The notification preferences that users chose in one organization. */
export interface Choices {
  /** The choice for each channel: for the document if there is one, else for the organization, else `ALL`. */
  effective(userId: string, documentId?: string): NotificationPreferences
}

const everything: NotificationPreferences = { inbox: 'ALL', email: 'ALL' }

/** Reads the choices for these documents and for the organization, of these users or of all users. */
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

/** The choices that these users have stored for the organization and for the document, by user. */
export async function findChosen(
  db: Db,
  apiKey: string,
  { organizationId, documentId }: DocumentRef,
  userIds: readonly string[],
): Promise<{
  organization: Map<string, NotificationPreferences>
  document: Map<string, NotificationPreferences>
}> {
  const stored = await findStored(db, apiKey, organizationId, [organizationDefault, documentId], userIds)
  const chosenFor = (id: string) =>
    new Map(
      userIds.flatMap((userId) => {
        const chosen = stored.get(keyOf(userId, id))
        return chosen ? [[userId, chosen] as const] : []
      }),
    )
  return { organization: chosenFor(organizationDefault), document: chosenFor(documentId) }
}

/**
 * Merges the channels into the choices of each user, for each document or, without documents, for the organization. Returns
 * the largest number of channels that one of the users has now.
 */
export async function put(
  db: Db,
  apiKey: string,
  organizationId: string,
  { userIds, documentIds }: { userIds: readonly string[]; documentIds?: readonly string[] },
  config: NotificationPreferences,
): Promise<number> {
  let maxChannels = 0
  for (const documentId of documentIds ?? [organizationDefault]) {
    const stored = await findStored(db, apiKey, organizationId, [documentId], userIds)
    const rows = userIds.map((userId) => {
      const merged = { ...stored.get(keyOf(userId, documentId)), ...config }
      maxChannels = Math.max(maxChannels, Object.keys(merged).length)
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
  return maxChannels
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
  await yieldIfLate()
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
