import type { Kysely } from 'kysely'
import type { ColumnTypes } from './migration.ts'

/** The events of a call about one annotation store it once. Servers without this migration store it with each event. */
export async function up(db: Kysely<unknown>, { id }: ColumnTypes): Promise<void> {
  await db.schema.alterTable('events').addColumn('snapshot_id', id).execute()
}
