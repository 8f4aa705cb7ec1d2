import type { Db } from '../engine/db.ts'

export interface UserGroup {
  groupId: string
  groupName: string
}

/** Adds groups. A group that exists gets the new name. */
export async function put(
  db: Db,
  apiKey: string,
  organizationId: string,
  groups: readonly UserGroup[],
  now: number,
): Promise<void> {
  await db
    .insertInto('user_groups')
    .values(
      groups.map(({ groupId, groupName }) => ({
        api_key: apiKey,
        organization_id: organizationId,
        group_id: groupId,
        group_name: groupName,
        created_at: now,
      })),
    )
    .onConflict((conflict) =>
      conflict
        .columns(['api_key', 'organization_id', 'group_id'])
        .doUpdateSet((eb) => ({ group_name: eb.ref('excluded.group_name') })),
    )
    .execute()
}

export async function exists(
  db: Db,
  apiKey: string,
  organizationId: string,
  groupId: string,
): Promise<boolean> {
  const row = await db
    .selectFrom('user_groups')
    .select('group_id')
    .where('api_key', '=', apiKey)
    .where('organization_id', '=', organizationId)
    .where('group_id', '=', groupId)
    .executeTakeFirst()
  return row !== undefined
}

export async function addUsers(
  db: Db,
  apiKey: string,
  organizationId: string,
  groupId: string,
  userIds: readonly string[],
  now: number,
): Promise<void> {
  if (userIds.length === 0) return
  await db
    .insertInto('user_group_members')
    .values(
      userIds.map((userId) => ({
        api_key: apiKey,
        organization_id: organizationId,
        group_id: groupId,
        user_id: userId,
        created_at: now,
      })),
    )
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

/** Removes these users, or all, from the group. Returns the ids of those who were members. */
export async function removeUsers(
  db: Db,
  apiKey: string,
  organizationId: string,
  groupId: string,
  userIds: readonly string[] | 'all',
): Promise<ReadonlySet<string>> {
  let query = db
    .deleteFrom('user_group_members')
    .where('api_key', '=', apiKey)
    .where('organization_id', '=', organizationId)
    .where('group_id', '=', groupId)
  if (userIds !== 'all') query = query.where('user_id', 'in', userIds)
  const rows = await query.returning('user_id').execute()
  return new Set(rows.map((row) => row.user_id))
}

/** Removes these users from all groups of the organization. */
export async function removeFromAll(
  db: Db,
  apiKey: string,
  organizationId: string,
  userIds: readonly string[],
): Promise<void> {
  await db
    .deleteFrom('user_group_members')
    .where('api_key', '=', apiKey)
    .where('organization_id', '=', organizationId)
    .where('user_id', 'in', userIds)
    .execute()
}
