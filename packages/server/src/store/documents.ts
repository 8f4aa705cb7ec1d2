import type { Db } from './db.ts'
import * as organizations from './organizations.ts'

/** The document and its organization exist afterwards (spec 0.8). */
export async function ensure(
  db: Db,
  apiKey: string,
  organizationId: string,
  documentId: string,
  now: number,
): Promise<void> {
  await organizations.ensure(db, apiKey, organizationId, now)
  await db
    .insertInto('documents')
    .values({
      api_key: apiKey,
      organization_id: organizationId,
      document_id: documentId,
      folder_id: null,
      access_type: null,
      disabled: 0,
      data: '{}',
      created_at: now,
      last_updated: now,
    })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

export async function exists(db: Db, apiKey: string, organizationId: string, documentId: string): Promise<boolean> {
  const row = await db
    .selectFrom('documents')
    .select('document_id')
    .where('api_key', '=', apiKey)
    .where('organization_id', '=', organizationId)
    .where('document_id', '=', documentId)
    .executeTakeFirst()
  return row !== undefined
}
