import { type Kysely, sql } from 'kysely'
import { ddl } from './ddl.ts'
import type { ColumnTypes } from './migration.ts'

/** Jobs have a lane, and a claim is numbered, so that a server that lost its lease cannot end the job. */
export async function up(db: Kysely<unknown>, types: ColumnTypes): Promise<void> {
  const { table, index } = ddl(db, types)
  // SQLite cannot change the primary key of a table.
  await sql`create table jobs_before as select * from jobs`.execute(db)
  await db.schema.dropTable('jobs').execute()
  await table('jobs', 2, {
    api_key: 'id',
    job_id: 'id',
    lane: 'id',
    kind: 'text',
    payload: 'text',
    attempts: 'integer',
    claims: 'integer',
    run_at: 'bigint',
    available_at: 'bigint',
    created_at: 'bigint',
  }).execute()
  await sql`insert into jobs
    select api_key, job_id, '', kind, payload, attempts, attempts, run_at, leased_until, created_at
    from jobs_before`.execute(db)
  await db.schema.dropTable('jobs_before').execute()
  await index('jobs', ['api_key', 'lane', 'available_at'])
}
