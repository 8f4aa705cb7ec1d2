import { type Kysely, sql } from 'kysely'

/**
 * The users of all documents of an organization, each found with one look, and whether one of their grants is live. It
 * says `like`, not `=`: SQLite would prepare every query with `resource_type = ?` anew whenever it runs, for the value would
 * decide whether this index fits.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createIndex('grants_on_documents')
    .on('grants')
    .columns(['api_key', 'organization_id', 'user_id', 'expires_at'])
    .where(sql.ref('resource_type'), 'like', 'document')
    .execute()
}
