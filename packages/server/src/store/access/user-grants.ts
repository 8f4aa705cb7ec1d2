import { sql } from 'kysely'
import type { Cursor, Db } from '../engine/db.ts'
import type { GrantTable } from '../schema/schema.ts'
import { grantsByUser } from './grants.ts'
import { areNotRemoved } from './removed-grants.ts'

/** A resource in an organization that a user was granted. */
export interface GrantedResource {
  type: GrantTable['resource_type']
  id: string
  accessRole: GrantTable['access_role']
}

/** Lists the grants of a user in an organization by type and id, also those that have expired. */
export async function listGrantsOf(
  db: Db,
  apiKey: string,
  { organizationId, userId }: { organizationId: string; userId: string },
  { limit, after }: { limit: number; after: Cursor | undefined },
): Promise<GrantedResource[]> {
  const behind = after ? sql`and (resource_type, resource_id) > (${sql.join(after)})` : sql``
  const { rows } = await sql<GrantedResource>`
    select resource_type as type, resource_id as id, access_role as "accessRole" from ${grantsByUser(db)}
    where api_key = ${apiKey} and organization_id = ${organizationId} and user_id = ${userId} ${behind}
      and ${areNotRemoved}
    order by resource_type, resource_id limit ${sql.lit(limit)}`.execute(db)
  return rows
}
