import type { Kysely } from 'kysely'
import type { ColumnTypes } from './migration.ts'

/**
 * Folders inside a folder are read in the order of the list, in slices. PostgreSQL sorts by the last column of that order,
 * the id, without the index: an index entry has at most 2,704 bytes, and three ids may have more.
 */
export async function up(db: Kysely<unknown>, { dialect }: ColumnTypes): Promise<void> {
  const columns = ['api_key', 'organization_id', 'parent_folder_id', 'created_at']
  await db.schema
    .createIndex('folders_in_order')
    .on('folders')
    .columns(dialect === 'sqlite' ? [...columns, 'folder_id'] : columns)
    .execute()
  await db.schema.dropIndex('folders_by_organization_id_parent_folder_id').execute()
}
