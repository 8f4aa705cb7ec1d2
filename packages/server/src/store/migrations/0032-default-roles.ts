import type { Kysely } from 'kysely'

/** When the role of a grant was sent. Null: with the grant. 0: never, so the role is the default. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('grants').addColumn('role_set_at', 'bigint').execute()
}
