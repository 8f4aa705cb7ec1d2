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
export async function findChangedEditors(
  db: Db,
  editors: readonly (Known & { ref: EditorRef })[],
): Promise<number[]> {
  const { rows } = await sql<{ position: number }>`
    select known.position::int as position
    from unnest(
      ${editors.map(({ apiKey }) => apiKey)}::text[],
      ${editors.map(({ ref }) => ref.organizationId)}::text[],
      ${editors.map(({ ref }) => ref.documentId)}::text[],
      ${editors.map(({ ref }) => ref.editorId)}::text[],
      ${editors.map(({ createdAt }) => createdAt)}::bigint[],
      ${editors.map(({ seq }) => seq)}::bigint[]
    ) with ordinality as known(api_key, organization_id, document_id, editor_id, created_at, seq, position)
    left join lateral (
      select created_at, seq from editors
      where editors.api_key = known.api_key and editors.organization_id = known.organization_id
        and editors.document_id = known.document_id and editors.editor_id = known.editor_id
    ) as stored on true
    where stored.seq is distinct from known.seq or stored.created_at is distinct from known.created_at`.execute(
    db,
  )
  return rows.map(({ position }) => position - 1)
}

/** The same for the live states and threads of documents. */
export async function findChangedDocuments(
  db: Db,
  documents: readonly (Known & { ref: DocumentRef })[],
): Promise<number[]> {
  const { rows } = await sql<{ position: number }>`
    select known.position::int as position
    from unnest(
      ${documents.map(({ apiKey }) => apiKey)}::text[],
      ${documents.map(({ ref }) => ref.organizationId)}::text[],
      ${documents.map(({ ref }) => ref.documentId)}::text[],
      ${documents.map(({ createdAt }) => createdAt)}::bigint[],
      ${documents.map(({ seq }) => seq)}::bigint[]
    ) with ordinality as known(api_key, organization_id, document_id, created_at, seq, position)
    left join lateral (
      select created_at, event_seq from documents
      where documents.api_key = known.api_key and documents.organization_id = known.organization_id
        and documents.document_id = known.document_id
    ) as stored on true
    where stored.event_seq is distinct from known.seq or stored.created_at is distinct from known.created_at`.execute(
    db,
  )
  return rows.map(({ position }) => position - 1)
}
