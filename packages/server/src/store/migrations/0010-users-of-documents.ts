import { type Kysely, sql } from 'kysely'

/**
 * This index finds each user of any document of an organization with one look-up, and whether one of their grants is live. The
 * condition is `like` and not `=`: with `=` the value of `resource_type = ?` would decide whether this index applies, and
 * SQLite would prepare every such query again on every run.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createIndex('grants_on_documents')
    .on('grants')
    .columns(['api_key', 'organization_id', 'user_id', 'expires_at'])
    .where(sql.ref('resource_type'), 'like', 'document')
    .execute()
}
