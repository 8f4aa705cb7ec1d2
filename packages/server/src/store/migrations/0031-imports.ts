import type { Kysely } from 'kysely'
import { ddl } from './ddl.ts'
import type { ColumnTypes } from './migration.ts'

/** Imports of workspaces that are not finished. */
export async function up(db: Kysely<unknown>, types: ColumnTypes): Promise<void> {
  const { table, inside } = ddl(db, types)
  await inside(
    table('imports', 1, { workspace_id: 'id', sha256: 'text', lines: 'bigint', created_at: 'bigint' }),
    'imports',
    'workspaces',
    ['workspace_id'],
  ).execute()
}
