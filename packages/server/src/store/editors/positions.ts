import { sql } from 'kysely'
import type { Db } from '../engine/db.ts'
import type { DocumentRef, EditorRef } from '../refs.ts'

/** How far a server knows an editor or a document. */
interface Known {
  apiKey: string
  /** When it was created. Null: it does not exist. */
  createdAt: number | null
  /** The number of its newest row or change. Null: it does not exist. */
  seq: number | null
}

/**
 * Returns the indexes of the editors that have other rows than these, or were created or deleted meanwhile. PostgreSQL only: on
 * SQLite, no other server changes anything.
 */
export const findChangedEditors = (db: Db, editors: readonly (Known & { ref: EditorRef })[]) =>
  findChanged(db, editors, 'editors', 'seq', {
    organization_id: (ref) => ref.organizationId,
    document_id: (ref) => ref.documentId,
    editor_id: (ref) => ref.editorId,
  })

/** The same for the live states and threads of documents. */
export const findChangedDocuments = (db: Db, documents: readonly (Known & { ref: DocumentRef })[]) =>
  findChanged(db, documents, 'documents', 'event_seq', {
    organization_id: (ref) => ref.organizationId,
    document_id: (ref) => ref.documentId,
  })

/** `key`: the columns of the key after the API key, and where a ref has their values. */
async function findChanged<Ref>(
  db: Db,
  rows: readonly (Known & { ref: Ref })[],
  table: 'editors' | 'documents',
  seq: 'seq' | 'event_seq',
  key: Record<string, (ref: Ref) => string>,
): Promise<number[]> {
  const columns = Object.entries(key)
  const arrays = [
    sql`${rows.map(({ apiKey }) => apiKey)}::text[]`,
    ...columns.map(([, valueOf]) => sql`${rows.map(({ ref }) => valueOf(ref))}::text[]`),
    sql`${rows.map(({ createdAt }) => createdAt)}::bigint[]`,
    sql`${rows.map((row) => row.seq)}::bigint[]`,
  ]
  const names = ['api_key', ...columns.map(([name]) => name)]
  const isSameKey = names.map((name) => sql`${sql.ref(`${table}.${name}`)} = ${sql.ref(`known.${name}`)}`)
  const { rows: changed } = await sql<{ position: number }>`
    select known.position::int as position
    from unnest(${sql.join(arrays)}) with ordinality
      as known(${sql.join([...names, 'created_at', 'seq', 'position'].map((name) => sql.ref(name)))})
    left join lateral (
      select created_at, ${sql.ref(seq)} as seq from ${sql.table(table)} where ${sql.join(isSameKey, sql` and `)}
    ) as stored on true
    where stored.seq is distinct from known.seq or stored.created_at is distinct from known.created_at`.execute(
    db,
  )
  return changed.map(({ position }) => position - 1)
}
