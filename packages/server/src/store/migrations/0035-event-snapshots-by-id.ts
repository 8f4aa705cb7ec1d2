import { type Kysely, sql } from 'kysely'

const index = sql`events_by_snapshot_id on events (api_key, snapshot_id, event_id) where snapshot_id is not null`

export async function prepare(db: Kysely<unknown>): Promise<void> {
  await sql`drop index concurrently if exists events_by_snapshot_id`.execute(db)
  await sql`create index concurrently ${index}`.execute(db)
}

/** Finds the event that has the annotation of others. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create index if not exists ${index}`.execute(db)
}
