import { type Kysely, sql } from 'kysely'
import { ddl } from './ddl.ts'
import type { ColumnTypes } from './migration.ts'

/**
 * The key of a deletion begins with its API key. The table is small: it has only unfinished deletions. Servers without this
 * migration find deletions by their id, and take locks without the time, as before.
 */
export async function up(db: Kysely<unknown>, types: ColumnTypes): Promise<void> {
  if (types.dialect === 'sqlite') await rebuildDeletions(db, types)
  else {
    await sql`alter table deletions drop constraint deletions_pk,
      add constraint deletions_pk primary key (api_key, deletion_id)`.execute(db)
    await db.schema.dropIndex('deletions_by_api_key').execute()
  }
  // Housekeeping removes locks that nobody has taken for a day.
  await db.schema
    .alterTable('locks')
    .addColumn('taken_at', 'bigint', (column) => column.notNull().defaultTo(0))
    .execute()
}

/** SQLite cannot change the primary key of a table. */
async function rebuildDeletions(db: Kysely<unknown>, types: ColumnTypes): Promise<void> {
  const { table, inside } = ddl(db, types)
  await sql`create table deletions_before as select * from deletions`.execute(db)
  await db.schema.dropTable('deletions').execute()
  await inside(
    table('deletions', 2, {
      api_key: 'id',
      deletion_id: 'id',
      scope: 'text',
      leased_until: 'bigint',
      created_at: 'bigint',
    }),
    'deletions',
    'api_keys',
    ['api_key'],
  ).execute()
  await sql`insert into deletions (api_key, deletion_id, scope, leased_until, created_at)
    select api_key, deletion_id, scope, leased_until, created_at from deletions_before`.execute(db)
  await db.schema.dropTable('deletions_before').execute()
}
