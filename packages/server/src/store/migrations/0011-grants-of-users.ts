import type { Kysely } from 'kysely'

/** This index lists the grants of a user by document, in steps: a user may have very many grants. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const name = 'grants_by_organization_id_user_id'
  await db.schema.dropIndex(name).execute()
  await db.schema
    .createIndex(name)
    .on('grants')
    .columns(['api_key', 'organization_id', 'user_id', 'resource_type', 'resource_id'])
    .execute()
}
