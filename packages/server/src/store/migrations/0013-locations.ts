import { type Kysely, sql } from 'kysely'

/**
 * This index finds the notifications at one location of a document, in the order of the list. It contains only the first 64
 * characters of a location's id: an index entry of PostgreSQL has at most 2,704 bytes, and the other ids may use 2,400.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  const columns = ['api_key', 'organization_id', 'document_id'].map((name) => sql.ref(name))
  await sql`
    create index notifications_at_location on notifications
      (${sql.join(columns)}, substr(location_id, 1, 64), timestamp, notification_id)
    where location_id is not null`.execute(db)
}
