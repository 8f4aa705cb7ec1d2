import type { Db } from '../engine/db.ts'
import { prepared, sqliteOf } from '../engine/prepared.ts'
import type { DocumentRef, EditorRef } from '../refs.ts'
import type { EditorTable } from '../schema/editor-tables.ts'

export type ContentType = NonNullable<EditorTable['type']>

/** The declared type and name (content key) of an editor's root; null until a client or backend declares them. */
export interface Contents {
  type: ContentType | null
  contentKey: string | null
}

/** The user who writes, and the client's session. */
export interface Writer {
  userId: string
  sessionId: string | null
}

export type Key = Pick<EditorTable, 'api_key' | 'organization_id' | 'document_id' | 'editor_id'>

export const keyOf = (apiKey: string, { organizationId, documentId, editorId }: EditorRef): Key => ({
  api_key: apiKey,
  organization_id: organizationId,
  document_id: documentId,
  editor_id: editorId,
})

/** The ids of a document's editors, in the order of the ids. */
export async function listIds(
  db: Db,
  apiKey: string,
  { organizationId, documentId }: DocumentRef,
  limit: number,
): Promise<string[]> {
  const rows = await db
    .selectFrom('editors')
    .select('editor_id')
    .where('api_key', '=', apiKey)
    .where('organization_id', '=', organizationId)
    .where('document_id', '=', documentId)
    .orderBy('editor_id')
    .limit(limit)
    .execute()
  return rows.map((row) => row.editor_id)
}

/** Counts the editors of a document, up to `max`. */
export async function count(
  db: Db,
  apiKey: string,
  { organizationId, documentId }: DocumentRef,
  max: number,
): Promise<number> {
  const [row] = await countUpTo(db, { apiKey, organizationId, documentId, max })
  return row?.editors ?? 0
}

const countUpTo = prepared(
  (db, of: { apiKey: string; organizationId: string; documentId: string; max: number }) =>
    db
      .selectFrom((eb) =>
        eb
          .selectFrom('editors')
          .select('editor_id')
          .where('api_key', '=', of.apiKey)
          .where('organization_id', '=', of.organizationId)
          .where('document_id', '=', of.documentId)
          .limit(of.max)
          .as('some'),
      )
      .select((eb) => eb.fn.countAll<number>().as('editors')),
)

/** Adds an editor with an empty log. Returns false if it exists. */
export async function add(
  db: Db,
  apiKey: string,
  ref: EditorRef,
  { type, contentKey }: Contents,
  { userId, sessionId }: Writer,
  now: number,
): Promise<boolean> {
  const added = await db
    .insertInto('editors')
    .values({
      ...keyOf(apiKey, ref),
      type,
      content_key: contentKey,
      seq: 0,
      snapshot_seq: 0,
      last_updated: now,
      last_updated_by: userId,
      session_id: sessionId,
      created_at: now,
    })
    .onConflict((conflict) => conflict.doNothing())
    .returning('seq')
    .executeTakeFirst()
  return added !== undefined
}

/** Whether the editor that was created at this time still exists. */
export async function exists(db: Db, apiKey: string, ref: EditorRef, createdAt: number): Promise<boolean> {
  const row = await db
    .selectFrom('editors')
    .select('seq')
    .where((eb) => eb.and(keyOf(apiKey, ref)))
    .where('created_at', '=', createdAt)
    .executeTakeFirst()
  return row !== undefined
}

/** The declared type and content key of an editor, and when the editor was created. */
export interface Declared extends Contents {
  createdAt: number
}

export async function findDeclared(db: Db, apiKey: string, ref: EditorRef): Promise<Declared | undefined> {
  return db
    .selectFrom('editors')
    .select(['type', 'content_key as contentKey', 'created_at as createdAt'])
    .where((eb) => eb.and(keyOf(apiKey, ref)))
    .executeTakeFirst()
}

/**
 * Replaces the declared type and content key. Returns false if they have changed, or the editor was deleted, since `before`
 * was read.
 */
export async function declare(
  db: Db,
  apiKey: string,
  ref: EditorRef,
  before: Declared,
  { type, contentKey }: Contents,
): Promise<boolean> {
  const declared = await db
    .updateTable('editors')
    .set({ type, content_key: contentKey })
    .where((eb) => eb.and(keyOf(apiKey, ref)))
    .where('created_at', '=', before.createdAt)
    .where('type', 'is not distinct from', before.type)
    .where('content_key', 'is not distinct from', before.contentKey)
    .returning('seq')
    .executeTakeFirst()
  return declared !== undefined
}

/** Who changed an editor last, and when. */
export interface LastChange {
  lastUpdated: number
  lastUpdatedBy: string
  sessionId: string | null
}

/**
 * Locks the editor that was created at this time: no other transaction appends to it until this one ends. Returns undefined if
 * it does not exist.
 */
export async function lock(
  db: Db,
  apiKey: string,
  ref: EditorRef,
  createdAt: number,
): Promise<LastChange | undefined> {
  const row = await db
    .selectFrom('editors')
    .select(['last_updated', 'last_updated_by', 'session_id'])
    .where((eb) => eb.and(keyOf(apiKey, ref)))
    .where('created_at', '=', createdAt)
    .$if(sqliteOf(db) === undefined, (query) => query.forNoKeyUpdate())
    .executeTakeFirst()
  return (
    row && { lastUpdated: row.last_updated, lastUpdatedBy: row.last_updated_by, sessionId: row.session_id }
  )
}

/** Stores who wrote last and when, and the declared type and content key. */
export async function touch(
  db: Db,
  apiKey: string,
  ref: EditorRef,
  { type, contentKey }: Contents,
  { userId, sessionId }: Writer,
  now: number,
): Promise<void> {
  await setLastChange(db, { ...keyOf(apiKey, ref), type, contentKey, userId, sessionId, now })
}

const setLastChange = prepared(
  (
    db,
    {
      type,
      contentKey,
      userId,
      sessionId,
      now,
      ...key
    }: Key & {
      type: ContentType | null
      contentKey: string | null
      userId: string
      sessionId: string | null
      now: number
    },
  ) =>
    db
      .updateTable('editors')
      .set({
        type,
        content_key: contentKey,
        last_updated: now,
        last_updated_by: userId,
        session_id: sessionId,
      })
      .where((eb) => eb.and(key)),
)
