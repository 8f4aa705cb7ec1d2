import type { Db } from './db.ts'
import * as documents from './documents.ts'
import { notRemoved } from './removed-grants.ts'

/** Tables whose rows belong to a document, and what tells the rows of one document apart. */
const inside = {
  presence: 'user_id',
  live_states: 'live_state_data_id',
  editors: 'editor_id',
  notifications: 'notification_id',
  notification_configs: 'user_id',
} as const

/**
 * Moves a document with everything inside to another id. What the other one has already stays as it is there, and what
 * is then left of the document is deleted with it. False: there is no such document.
 */
export async function mergeInto(
  db: Db,
  apiKey: string,
  organizationId: string,
  documentId: string,
  newDocumentId: string,
  now: number,
): Promise<boolean> {
  const found = await documents.findMany(db, apiKey, organizationId, [documentId, newDocumentId])
  const source = found.find((document) => document.documentId === documentId)
  const target = found.find((document) => document.documentId === newDocumentId)
  if (!source) return false
  await putTarget(db, apiKey, organizationId, { ...merge(source, target), documentId: newDocumentId }, now)
  await countOn(db, apiKey, organizationId, documentId, newDocumentId)

  for (const [table, key] of Object.entries(inside) as [keyof typeof inside, 'user_id'][]) {
    // The columns of each table were checked when `inside` was written; the types of one stand for all.
    const rows = table as 'presence'
    await db
      .updateTable(rows)
      .set({ document_id: newDocumentId })
      .where('api_key', '=', apiKey)
      .where('organization_id', '=', organizationId)
      .where('document_id', '=', documentId)
      .where(key, 'not in', (query) =>
        query
          .selectFrom(rows)
          .select(key)
          .where('api_key', '=', apiKey)
          .where('organization_id', '=', organizationId)
          .where('document_id', '=', newDocumentId),
      )
      .execute()
  }
  await moveGrants(db, apiKey, organizationId, documentId, newDocumentId)
  await documents.remove(db, apiKey, organizationId, [documentId])
  return true
}

/** What the target does not say, the source does. A document that was shut stays shut. */
const merge = (source: documents.Document, target: documents.Document | undefined): documents.Document => ({
  documentId: source.documentId,
  folderId: target?.folderId ?? source.folderId,
  accessType: target?.accessType ?? source.accessType,
  disabled: source.disabled || target?.disabled === true,
  data: { ...source.data, ...target?.data },
  createdAt: target?.createdAt ?? source.createdAt,
  lastUpdated: source.lastUpdated,
})

async function putTarget(
  db: Db,
  apiKey: string,
  organizationId: string,
  document: documents.Document,
  now: number,
): Promise<void> {
  const values = {
    folder_id: document.folderId,
    access_type: document.accessType,
    disabled: document.disabled ? 1 : 0,
    data: JSON.stringify(document.data),
    last_updated: now,
  }
  await db
    .insertInto('documents')
    .values({
      api_key: apiKey,
      organization_id: organizationId,
      document_id: document.documentId,
      event_seq: 0,
      created_at: document.createdAt,
      ...values,
    })
    .onConflict((conflict) =>
      conflict.columns(['api_key', 'organization_id', 'document_id']).doUpdateSet(values),
    )
    .execute()
}

/** Who was removed from the target before comes back with the source; removals of the source do not move. */
async function moveGrants(
  db: Db,
  apiKey: string,
  organizationId: string,
  documentId: string,
  newDocumentId: string,
): Promise<void> {
  const usersOf = (id: string) =>
    db
      .selectFrom('grants')
      .select('user_id')
      .where('api_key', '=', apiKey)
      .where('organization_id', '=', organizationId)
      .where('resource_type', '=', 'document')
      .where('resource_id', '=', id)
      .where(notRemoved)
  await db
    .deleteFrom('grants')
    .where('api_key', '=', apiKey)
    .where('organization_id', '=', organizationId)
    .where('resource_type', '=', 'document')
    .where('resource_id', '=', newDocumentId)
    .where('user_id', 'in', usersOf(documentId))
    .where('user_id', 'not in', usersOf(newDocumentId))
    .execute()
  await db
    .updateTable('grants')
    .set({ resource_id: newDocumentId })
    .where('api_key', '=', apiKey)
    .where('organization_id', '=', organizationId)
    .where('resource_type', '=', 'document')
    .where('resource_id', '=', documentId)
    .where(notRemoved)
    .where('user_id', 'not in', usersOf(newDocumentId))
    .execute()
}

/** What moves is the newest change of the target, whatever number either document has come to. */
async function countOn(
  db: Db,
  apiKey: string,
  organizationId: string,
  documentId: string,
  newDocumentId: string,
): Promise<void> {
  const { seq } = await db
    .updateTable('documents')
    .set((eb) => ({
      event_seq: eb
        .selectFrom('documents as both')
        .select((eb) => eb(eb.fn.max('both.event_seq'), '+', 1).as('seq'))
        .where('both.api_key', '=', apiKey)
        .where('both.organization_id', '=', organizationId)
        .where('both.document_id', 'in', [documentId, newDocumentId]),
    }))
    .where('api_key', '=', apiKey)
    .where('organization_id', '=', organizationId)
    .where('document_id', '=', newDocumentId)
    .returning('event_seq as seq')
    .executeTakeFirstOrThrow()
  await db
    .updateTable('live_states')
    .set({ seq })
    .where('api_key', '=', apiKey)
    .where('organization_id', '=', organizationId)
    .where('document_id', '=', documentId)
    .execute()
}
