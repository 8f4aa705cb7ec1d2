import type { Db } from './db.ts'
import { prepared } from './prepared.ts'
import type { EditorTable } from './schema.ts'

/** Names an editor of a tenant. */
export interface Place {
  organizationId: string
  documentId: string
  editorId: string
}

/** An editor with its log: the bytes of a Yjs document. */
export interface Editor {
  editorId: string
  type: EditorTable['type']
  contentKey: string
  /** Number of the newest update. */
  seq: number
  /** The snapshot, if there is one, and every update after it, in order. */
  log: Uint8Array[]
  /** The part of the log that no snapshot holds. */
  tail: { updates: number; bytes: number }
  /** False when updates are missing from the log. */
  complete: boolean
  lastUpdated: number
  lastUpdatedBy: string
  sessionId: string | null
}

/** Who wrote, and in which session of a client. */
export interface Writer {
  userId: string
  sessionId: string | null
}

/** Ids of a document's editors, in order. */
export async function listIds(
  db: Db,
  apiKey: string,
  { organizationId, documentId }: Omit<Place, 'editorId'>,
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

type Key = Pick<EditorTable, 'api_key' | 'organization_id' | 'document_id' | 'editor_id'>

const keyOf = (apiKey: string, { organizationId, documentId, editorId }: Place): Key => ({
  api_key: apiKey,
  organization_id: organizationId,
  document_id: documentId,
  editor_id: editorId,
})

/** One statement: between two, a compaction could move updates out of the sight of both. */
const selectLog = prepared((db, key: Key) =>
  db
    .selectFrom('editors')
    .innerJoin(
      (eb) =>
        eb
          .selectFrom('editors')
          .select(['snapshot_seq as at', 'snapshot as bytes'])
          .where((eb) => eb.and(key))
          .unionAll(
            eb
              .selectFrom('editor_updates')
              .select(['seq as at', 'bytes'])
              .where((eb) => eb.and(key)),
          )
          .as('log'),
      (join) => join.onTrue(),
    )
    .select(['type', 'content_key', 'seq', 'snapshot_seq', 'last_updated', 'last_updated_by', 'session_id'])
    .select(['log.at', 'log.bytes'])
    .where((eb) => eb.and(key))
    .orderBy('log.at'),
)

export async function find(db: Db, apiKey: string, place: Place): Promise<Editor | undefined> {
  const rows = await selectLog(db, keyOf(apiKey, place))
  const [editor, ...tail] = rows
  if (!editor) return undefined
  return {
    editorId: place.editorId,
    type: editor.type,
    contentKey: editor.content_key,
    seq: editor.seq,
    log: rows.flatMap((row) => row.bytes ?? []),
    tail: { updates: tail.length, bytes: tail.reduce((sum, row) => sum + (row.bytes?.length ?? 0), 0) },
    complete:
      rows.at(-1)?.at === editor.seq && rows.every((row, index) => row.at === editor.snapshot_seq + index),
    lastUpdated: editor.last_updated,
    lastUpdatedBy: editor.last_updated_by,
    sessionId: editor.session_id,
  }
}

/** Adds an editor with its first update, if it has any content; false if it is there already. */
export async function add(
  db: Db,
  apiKey: string,
  place: Place,
  { type, contentKey, update }: { type: Editor['type']; contentKey: string; update: Uint8Array | null },
  { userId, sessionId }: Writer,
  now: number,
): Promise<boolean> {
  const added = await db
    .insertInto('editors')
    .values({
      ...keyOf(apiKey, place),
      type,
      content_key: contentKey,
      seq: update === null ? 0 : 1,
      snapshot_seq: 0,
      snapshot: null,
      last_updated: now,
      last_updated_by: userId,
      session_id: sessionId,
    })
    .onConflict((conflict) => conflict.doNothing())
    .returning('seq')
    .executeTakeFirst()
  if (!added) return false
  if (update !== null) await insertUpdate(db, apiKey, place, 1, update, userId, now)
  return true
}

/** Appends an update to the log that was read; null only notes that somebody wrote what was there. */
export async function append(
  db: Db,
  apiKey: string,
  place: Place,
  { seq, update }: { seq: number; update: Uint8Array | null },
  { userId, sessionId }: Writer,
  now: number,
): Promise<void> {
  // The row first: it is where writers of one editor meet, and the later one runs again.
  await db
    .updateTable('editors')
    .set({ seq, last_updated: now, last_updated_by: userId, session_id: sessionId })
    .where((eb) => eb.and(keyOf(apiKey, place)))
    .execute()
  if (update !== null) await insertUpdate(db, apiKey, place, seq, update, userId, now)
}

/** Puts a snapshot of the whole log, up to the newest update, in the place of its updates. */
export async function compact(
  db: Db,
  apiKey: string,
  place: Place,
  { seq, snapshot }: { seq: number; snapshot: Uint8Array },
): Promise<void> {
  const key = keyOf(apiKey, place)
  await db
    .updateTable('editors')
    .set({ snapshot, snapshot_seq: seq })
    .where((eb) => eb.and(key))
    .execute()
  await db
    .deleteFrom('editor_updates')
    .where((eb) => eb.and(key))
    .where('seq', '<=', seq)
    .execute()
}

/** Opening a document costs as much as its tail is long; making a snapshot costs as much as it is large. */
export const isLong = ({ updates, bytes }: Editor['tail']) => updates >= 100 || bytes > 1024 * 1024

const insertUpdate = (
  db: Db,
  apiKey: string,
  place: Place,
  seq: number,
  bytes: Uint8Array,
  userId: string,
  now: number,
) =>
  db
    .insertInto('editor_updates')
    .values({ ...keyOf(apiKey, place), seq, bytes, user_id: userId, created_at: now })
    .execute()
