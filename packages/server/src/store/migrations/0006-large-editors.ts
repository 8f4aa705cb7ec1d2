import type { Kysely } from 'kysely'
import { ddl } from './ddl.ts'
import type { ColumnTypes } from './migration.ts'

/** Large snapshots and versions are stored in parts. The first part stays in its table. */
export async function up(db: Kysely<unknown>, types: ColumnTypes): Promise<void> {
  const { table, inside } = ddl(db, types)
  const editor = ['api_key', 'organization_id', 'document_id', 'editor_id']
  for (const name of ['editor_snapshots', 'editor_versions']) {
    await db.schema
      .alterTable(name)
      .addColumn('parts', 'integer', (column) => column.notNull().defaultTo(1))
      .execute()
  }
  await db.schema.alterTable('editor_snapshots').addColumn('snapshot_id', 'text').execute()
  await inside(
    table('editor_snapshot_parts', 6, {
      api_key: 'id',
      organization_id: 'id',
      document_id: 'id',
      editor_id: 'id',
      snapshot_id: 'id',
      part: 'integer',
      bytes: 'bytes',
    }),
    'editor_snapshot_parts',
    'editors',
    editor,
  ).execute()
  await inside(
    table('editor_version_parts', 6, {
      api_key: 'id',
      organization_id: 'id',
      document_id: 'id',
      editor_id: 'id',
      version_id: 'id',
      part: 'integer',
      bytes: 'bytes',
    }),
    'editor_version_parts',
    'editor_versions',
    [...editor, 'version_id'],
  ).execute()
}
