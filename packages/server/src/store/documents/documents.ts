import { type RawBuilder, type SelectQueryBuilder, sql } from 'kysely'
import type { StoredDocument } from '../access/access.ts'
import * as activities from '../activities/activities.ts'
import { yieldIfLate, mapYielding } from '../../platform/turns/loop-time.ts'
import type { Cursor, Db } from '../engine/db.ts'
import { padded } from '../engine/slices.ts'
import { batched } from '../engine/batched.ts'
import { inLockOrder } from '../engine/lock-order.ts'
import { movedAwaySeq } from './moved-away.ts'
import { mergeKeys, parse, stringifyData } from '../engine/json.ts'
import * as organizations from '../organizations.ts'
import { prepared, sqliteOf } from '../engine/prepared.ts'
import { notRemoved } from '../access/removed-grants.ts'
import { type DocumentRef, tenantDocumentKey } from '../refs.ts'
import type { DocumentTable, Schema } from '../schema/schema.ts'
import { documentTablesWithoutForeignKey } from '../schema/tables.ts'

export type AccessType = NonNullable<StoredDocument['accessType']>

export interface Document extends StoredDocument {
  documentId: string
  /** `documentName` and the caller's own metadata. */
  data: Record<string, unknown>
  createdAt: number
  lastUpdated: number
}

const columns = [
  'document_id',
  'folder_id',
  'access_type',
  'disabled',
  'data',
  'created_at',
  'last_updated',
] as const
type Row = Pick<DocumentTable, (typeof columns)[number]>

const toDocument = (row: Row): Document => ({
  documentId: row.document_id,
  folderId: row.folder_id,
  accessType: row.access_type as AccessType | null,
  disabled: row.disabled === 1,
  data: parse(row.data),
  createdAt: row.created_at,
  lastUpdated: row.last_updated,
})

const selectByIds = prepared(
  (db, { apiKey, organizationId, ids }: { apiKey: string; organizationId: string; ids: readonly string[] }) =>
    db
      .selectFrom('documents')
      .select(columns)
      .where('api_key', '=', apiKey)
      .where('organization_id', '=', organizationId)
      .where('document_id', 'in', ids)
      // `+ created_at` has no index, so SQLite finds the documents by their ids and sorts them, instead of scanning all.
      .orderBy(sql`+ created_at`)
      .orderBy('document_id'),
  { isSmallRead: true },
)

const selectIds = prepared(
  (db, { apiKey, organizationId, ids }: { apiKey: string; organizationId: string; ids: readonly string[] }) =>
    db
      .selectFrom('documents')
      .select('document_id')
      .where('api_key', '=', apiKey)
      .where('organization_id', '=', organizationId)
      .where('document_id', 'in', ids),
  { isSmallRead: true },
)

export async function findMany(
  db: Db,
  apiKey: string,
  organizationId: string,
  ids: readonly string[],
): Promise<Document[]> {
  if (ids.length === 0) return []
  return mapYielding(await selectByIds(db, { apiKey, organizationId, ids: padded(ids) }), toDocument)
}

export async function exists(
  db: Db,
  apiKey: string,
  organizationId: string,
  documentId: string,
): Promise<boolean> {
  return (await countExisting(db, apiKey, organizationId, [documentId])) > 0
}

/** Counts the documents with these ids that exist. */
export async function countExisting(
  db: Db,
  apiKey: string,
  organizationId: string,
  ids: readonly string[],
): Promise<number> {
  return (await selectIds(db, { apiKey, organizationId, ids: padded(ids) })).length
}

/**
 * Documents by creation time, then id. With `folderId`, only those directly in this folder; if it is null, in no folder.
 */
export async function list(
  db: Db,
  apiKey: string,
  organizationId: string,
  { folderId, limit, after }: { folderId?: string | null; limit: number; after: Cursor | undefined },
): Promise<Document[]> {
  let query = db
    .selectFrom('documents')
    .select(columns)
    .where('api_key', '=', apiKey)
    .where('organization_id', '=', organizationId)
    .orderBy('created_at')
    .orderBy('document_id')
    .limit(limit)
  if (folderId === null) query = query.where('folder_id', 'is', null)
  else if (folderId !== undefined) query = query.where('folder_id', '=', folderId)
  if (after) {
    const [createdAt, id] = after as [number, string]
    query = query.where((eb) => eb(eb.refTuple('created_at', 'document_id'), '>', eb.tuple(createdAt, id)))
  }
  return mapYielding(await query.execute(), toDocument)
}

/** Adds the documents that do not exist yet. Returns the ids of the added documents. */
export async function add(
  db: Db,
  apiKey: string,
  organizationId: string,
  documents: readonly Pick<Document, 'documentId' | 'folderId' | 'accessType' | 'data'>[],
  now: number,
): Promise<ReadonlySet<string>> {
  const rows = await db
    .insertInto('documents')
    .values(
      inLockOrder(documents, (document) => document.documentId).map((document) => ({
        api_key: apiKey,
        organization_id: organizationId,
        document_id: document.documentId,
        folder_id: document.folderId,
        access_type: document.accessType,
        disabled: 0,
        data: stringifyData(document.data, `document ${document.documentId}`),
        event_seq: 0,
        annotation_number: 0,
        created_at: now,
        last_updated: now,
      })),
    )
    .onConflict((conflict) => conflict.doNothing())
    .returning('document_id')
    .execute()
  return new Set(rows.map((row) => row.document_id))
}

/** Creates the document and its organization if they do not exist (spec 0.8). Returns whether it created the document. */
export async function ensure(
  db: Db,
  apiKey: string,
  organizationId: string,
  documentId: string,
  now: number,
): Promise<boolean> {
  await organizations.ensure(db, apiKey, organizationId, now)
  const document = { documentId, folderId: null, accessType: null, data: {} }
  return (await add(db, apiKey, organizationId, [document], now)).size > 0
}

/**
 * Of the documents that exist, sets the access type if one is given, and merges the keys into the data. Returns their ids.
 */
export async function update(
  db: Db,
  apiKey: string,
  organizationId: string,
  changes: ReadonlyMap<string, { accessType?: AccessType; keys: Record<string, unknown> }>,
  now: number,
): Promise<ReadonlySet<string>> {
  const found = new Set<string>()
  for (const { documentId, data } of await findMany(db, apiKey, organizationId, [...changes.keys()])) {
    await yieldIfLate()
    found.add(documentId)
    const { accessType, keys } = changes.get(documentId) ?? { keys: {} }
    await db
      .updateTable('documents')
      .set({
        data: stringifyData(mergeKeys(data, keys), `document ${documentId}`),
        ...(accessType && { access_type: accessType }),
        last_updated: now,
      })
      .where('api_key', '=', apiKey)
      .where('organization_id', '=', organizationId)
      .where('document_id', '=', documentId)
      .execute()
  }
  return found
}

/** Sets the same values on all documents that exist. Returns their ids. */
export async function set(
  db: Db,
  apiKey: string,
  organizationId: string,
  documentIds: readonly string[],
  values: Partial<Pick<Document, 'folderId' | 'accessType' | 'disabled'>>,
  now: number,
): Promise<ReadonlySet<string>> {
  const rows = await db
    .updateTable('documents')
    .set({
      ...(values.folderId !== undefined && { folder_id: values.folderId }),
      ...(values.accessType !== undefined && { access_type: values.accessType }),
      ...(values.disabled !== undefined && { disabled: values.disabled ? 1 : 0 }),
      last_updated: now,
    })
    .where('api_key', '=', apiKey)
    .where('organization_id', '=', organizationId)
    .where('document_id', 'in', documentIds)
    .returning('document_id')
    .execute()
  return new Set(rows.map((row) => row.document_id))
}

/** The newest change of a document. */
export interface Position {
  /** Changes when the document is deleted and created again, and when the database is restored from a backup. */
  epoch: string
  seq: number
}

export function positionOf(db: Db, row: { created_at: number; event_seq: number }): Position {
  const generation = sqliteOf(db)?.generation ?? 0
  const created = row.created_at.toString(36)
  return { epoch: generation === 0 ? created : `${created}.${generation.toString(36)}`, seq: row.event_seq }
}

/** The newest change of a document. Undefined: the document does not exist, or was moved away. */
export async function findPosition(
  db: Db,
  apiKey: string,
  { organizationId, documentId }: DocumentRef,
): Promise<Position | undefined> {
  const row = await db
    .selectFrom('documents')
    .select(['created_at', 'event_seq'])
    .where('api_key', '=', apiKey)
    .where('organization_id', '=', organizationId)
    .where('document_id', '=', documentId)
    .where('event_seq', '>', movedAwaySeq)
    .executeTakeFirst()
  return row && positionOf(db, row)
}

type Key = { api_key: string; organization_id: string; document_id: string }

/**
 * Gives a change of each document the next number. Returns no position for documents that do not exist or were moved away,
 * and with `skip` none for documents whose row another transaction has locked.
 */
export async function numberChanges(
  db: Db,
  documents: readonly ({ apiKey: string } & DocumentRef)[],
  whenLocked: WhenLocked = 'wait',
): Promise<ReadonlyMap<string, Position>> {
  const keys = documents.map(({ apiKey, organizationId, documentId }) => ({
    api_key: apiKey,
    organization_id: organizationId,
    document_id: documentId,
  }))
  const rows = await updateSeqs[whenLocked](db, keys)
  return new Map(
    rows.map((row) => [
      tenantDocumentKey(row.api_key, { organizationId: row.organization_id, documentId: row.document_id }),
      positionOf(db, row),
    ]),
  )
}

/** On PostgreSQL locks the rows in the order of their keys first, because an update locks them in an order of its own. */
const updateSeqsOf = (whenLocked: RawBuilder<unknown>) =>
  batched<keyof Key, Key & { created_at: number; event_seq: number }>(
    { api_key: 'text', organization_id: 'text', document_id: 'text' },
    ({ row, fromRows, isPostgres }) => {
      const locked = sql`
        with held as (
          select d.api_key, d.organization_id, d.document_id ${fromRows}
          join documents as d on d.api_key = ${row.api_key} and d.organization_id = ${row.organization_id}
            and d.document_id = ${row.document_id}
          order by 1, 2, 3 for no key update of d ${whenLocked}
        )`
      const key = (column: keyof Key) => (isPostgres ? sql.ref(`held.${column}`) : row[column])
      return sql`
        ${isPostgres ? locked : sql``}
        update documents set event_seq = event_seq + 1 ${isPostgres ? sql`from held` : sql``}
        where documents.api_key = ${key('api_key')} and documents.organization_id = ${key('organization_id')}
          and documents.document_id = ${key('document_id')} and event_seq > ${sql.lit(movedAwaySeq)}
        returning documents.api_key, documents.organization_id, documents.document_id, created_at, event_seq`
    },
  )

const updateSeqs = {
  wait: updateSeqsOf(sql``),
  skip: updateSeqsOf(sql`skip locked`),
}
/** What to do with rows that another transaction has locked. On SQLite there are none. */
type WhenLocked = keyof typeof updateSeqs

/** Removes the documents with everything inside. Returns the ids of those that existed. */
export async function remove(
  db: Db,
  apiKey: string,
  organizationId: string,
  documentIds: readonly string[],
): Promise<ReadonlySet<string>> {
  const rows = await db
    .deleteFrom('documents')
    .where('api_key', '=', apiKey)
    .where('organization_id', '=', organizationId)
    .where('document_id', 'in', documentIds)
    .returning('document_id')
    .execute()
  const removed = rows.map((row) => row.document_id)
  if (removed.length > 0) await removeWithoutForeignKey(db, apiKey, organizationId, removed)
  return new Set(removed)
}

/**
 * Removes the rows that name these documents without a foreign key that would delete them. Keeps removed grants, because
 * they override older tokens.
 */
export async function removeWithoutForeignKey(
  db: Db,
  apiKey: string,
  organizationId: string,
  documentIds: readonly string[] | SelectQueryBuilder<Schema, 'documents', { document_id: string }>,
): Promise<void> {
  await db
    .deleteFrom('grants')
    .where('api_key', '=', apiKey)
    .where('organization_id', '=', organizationId)
    .where('resource_type', '=', 'document')
    .where('resource_id', 'in', documentIds)
    .where(notRemoved)
    .execute()
  await activities.removeOfDocuments(db, apiKey, organizationId, documentIds)
  for (const table of documentTablesWithoutForeignKey) {
    await db
      .deleteFrom(table)
      .where('api_key', '=', apiKey)
      .where('organization_id', '=', organizationId)
      .where('document_id', 'in', documentIds)
      .execute()
  }
}

/** The organizations that have a document with this id. Reads at most two. */
export async function findOrganizationsOf(db: Db, apiKey: string, documentId: string): Promise<string[]> {
  const rows = await db
    .selectFrom('documents')
    .select('organization_id')
    .where('api_key', '=', apiKey)
    .where('document_id', '=', documentId)
    .limit(2)
    .execute()
  return rows.map((row) => row.organization_id)
}
