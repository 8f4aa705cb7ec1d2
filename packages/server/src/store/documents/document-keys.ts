import type { Cursor, Db } from '../engine/db.ts'
import { prepared } from '../engine/prepared.ts'

export interface DocumentKey {
  documentId: string
  createdAt: number
}

const selectKeys = prepared(
  (
    db,
    of: { apiKey: string; organizationId: string; createdAt: number; documentId: string; limit: number },
  ) =>
    db
      .selectFrom('documents')
      .select(['document_id', 'created_at'])
      .where('api_key', '=', of.apiKey)
      .where('organization_id', '=', of.organizationId)
      .where((eb) => eb(eb.refTuple('created_at', 'document_id'), '<', eb.tuple(of.createdAt, of.documentId)))
      .orderBy('created_at', 'desc')
      .orderBy('document_id', 'desc')
      .limit(of.limit),
)

/** The documents of an organization, newest first, without their data. */
export async function listKeys(
  db: Db,
  apiKey: string,
  organizationId: string,
  { limit, after }: { limit: number; after: Cursor | undefined },
): Promise<DocumentKey[]> {
  const [createdAt, documentId] = (after ?? [Number.MAX_SAFE_INTEGER, '']) as [number, string]
  const rows = await selectKeys(db, { apiKey, organizationId, createdAt, documentId, limit })
  return rows.map((row) => ({ documentId: row.document_id, createdAt: row.created_at }))
}
