import type { Kysely } from 'kysely'
import { ddl } from './ddl.ts'
import type { ColumnTypes } from './migration.ts'

/**
 * The user who saved a version. A separate table: SQLite appends new columns to a row, and to read a column behind the bytes
 * of a version it walks over all of the bytes.
 */
export async function up(db: Kysely<unknown>, types: ColumnTypes): Promise<void> {
  const { table, inside } = ddl(db, types)
  await inside(
    table('editor_version_authors', 5, {
      api_key: 'id',
      organization_id: 'id',
      document_id: 'id',
      editor_id: 'id',
      version_id: 'id',
      author: 'text',
    }),
    'editor_version_authors',
    'editor_versions',
    ['api_key', 'organization_id', 'document_id', 'editor_id', 'version_id'],
  ).execute()
}
