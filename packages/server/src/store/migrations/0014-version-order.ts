import type { Kysely } from 'kysely'
import type { ColumnTypes } from './migration.ts'

/**
 * Versions are listed in the order of this index. Without it, every page would read and sort all versions of the editor.
 * PostgreSQL sorts by the last column of that order, the id, without the index: as in `folders_in_order`, the entries must
 * not become too long.
 */
export async function up(db: Kysely<unknown>, { dialect }: ColumnTypes): Promise<void> {
  const columns = ['api_key', 'organization_id', 'document_id', 'editor_id', 'created_at']
  await db.schema
    .createIndex('editor_versions_in_order')
    .on('editor_versions')
    .columns(dialect === 'sqlite' ? [...columns, 'version_id'] : columns)
    .execute()
}
