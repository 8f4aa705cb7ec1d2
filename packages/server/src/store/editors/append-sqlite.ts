import type { Appended, Entry } from './log-entry.ts'
import type { SqliteConnection } from '../engine/sqlite-driver.ts'
import { movedAwaySeq } from '../documents/moved-away.ts'

/** The editor is found first and then updated by its `rowid`: one statement with `returning` takes longer. */
const find = `
  select rowid, seq, created_at from editors
  where api_key = ? and organization_id = ? and document_id = ? and editor_id = ?`

const advance = `
  update editors set seq = ?, last_updated = ?, last_updated_by = ?, session_id = ? where rowid = ?`

const create = `
  insert into editors (api_key, organization_id, document_id, editor_id,
    type, content_key, seq, snapshot_seq, last_updated, last_updated_by, session_id, created_at)
  select api_key, organization_id, document_id, ?, ?, ?, 1, 0, ?, ?, ?, ? from documents
  where api_key = ? and organization_id = ? and document_id = ? and event_seq > ${movedAwaySeq}
  on conflict do nothing
  returning seq, created_at`

const insertUpdate = `
  insert into editor_updates (api_key, organization_id, document_id, editor_id, seq, bytes, user_id, created_at)
  values (?, ?, ?, ?, ?, ?, ?, ?)`

const insertOwner = `
  insert into editor_clients (api_key, organization_id, document_id, editor_id, client_id, user_id)
  values (?, ?, ?, ?, ?, ?)
  on conflict do nothing`

/** Appends one entry after the other: SQLite has no round trips, and a writer has the database to itself. */
export const appendOnSqlite = (db: SqliteConnection, entries: readonly Entry[], now: number) =>
  entries.map((entry) => appendOne(db, entry, now))

function appendOne(db: SqliteConnection, entry: Entry, now: number): Appended | undefined {
  const { organizationId, documentId, editorId } = entry.editor
  const { userId, sessionId } = entry.writer
  const key = [entry.apiKey, organizationId, documentId, editorId] as const
  const found = db.run<Row & { rowid: number }>(find, key).rows[0]
  if (found && entry.createdAt !== undefined && found.created_at !== entry.createdAt) return undefined
  const row = found ? { ...found, seq: found.seq + 1 } : createEditor(db, entry, now)
  if (row === undefined) return undefined
  const { seq, created_at: createdAt } = row
  if (found) db.run(advance, [seq, now, userId, sessionId, found.rowid])
  db.run(insertUpdate, [...key, seq, entry.update, userId, now])
  for (const owner of entry.owners) db.run(insertOwner, [...key, ...owner])
  return { seq, createdAt }
}

interface Row {
  seq: number
  created_at: number
}

function createEditor(
  db: SqliteConnection,
  { apiKey, editor, writer, create: contents }: Entry,
  now: number,
) {
  if (contents === null) return undefined
  const { organizationId, documentId, editorId } = editor
  const { userId, sessionId } = writer
  const values = [editorId, contents.type, contents.contentKey, now, userId, sessionId, now]
  return db.run<Row>(create, [...values, apiKey, organizationId, documentId]).rows[0]
}
