import type { ApiKey, TokenRecord } from './api-keys.ts'
import type { Db } from './engine/db.ts'

export interface Workspace {
  workspaceId: string
  name: string
  owner: { email: string; id: string; name: string; avatar: string }
  token: TokenRecord
}

export async function add(
  db: Db,
  { workspaceId, name, owner, token }: Workspace,
  now: number,
): Promise<void> {
  await db
    .insertInto('workspaces')
    .values({
      workspace_id: workspaceId,
      name,
      owner_id: owner.id,
      owner_email: owner.email,
      owner_name: owner.name,
      owner_avatar: owner.avatar,
      token_id: token.tokenId,
      token_issued_at: token.issuedAt,
      created_at: now,
    })
    .execute()
}

export async function find(db: Db, workspaceId: string): Promise<Workspace | undefined> {
  const row = await db
    .selectFrom('workspaces')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .executeTakeFirst()
  return (
    row && {
      workspaceId: row.workspace_id,
      name: row.name,
      owner: { email: row.owner_email, id: row.owner_id, name: row.owner_name, avatar: row.owner_avatar },
      token: { tokenId: row.token_id, issuedAt: row.token_issued_at },
    }
  )
}

export async function countOfOwner(db: Db, ownerEmail: string): Promise<number> {
  const { count } = await db
    .selectFrom('workspaces')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('owner_email', '=', ownerEmail)
    .executeTakeFirstOrThrow()
  return count
}

/** The workspaces of an owner, oldest first. */
export async function listOfOwner(
  db: Db,
  ownerEmail: string,
  limit: number,
): Promise<{ workspaceId: string; name: string }[]> {
  const rows = await db
    .selectFrom('workspaces')
    .select(['workspace_id', 'name'])
    .where('owner_email', '=', ownerEmail)
    .orderBy('created_at')
    .orderBy('workspace_id')
    .limit(limit)
    .execute()
  return rows.map((row) => ({ workspaceId: row.workspace_id, name: row.name }))
}

/** The API keys of the workspace, oldest first. */
export async function apiKeys(
  db: Db,
  workspaceId: string,
): Promise<Pick<ApiKey, 'apiKey' | 'name' | 'type'>[]> {
  const rows = await db
    .selectFrom('api_keys')
    .select(['api_key', 'name', 'type'])
    .where('workspace_id', '=', workspaceId)
    .orderBy('created_at')
    .orderBy('api_key')
    .execute()
  return rows.map((row) => ({ apiKey: row.api_key, name: row.name, type: row.type }))
}

/** Ids of workspaces, for the operator of the server. */
export async function someIds(db: Db, limit: number): Promise<string[]> {
  const query = db.selectFrom('workspaces').select('workspace_id').orderBy('workspace_id').limit(limit)
  return (await query.execute()).map((row) => row.workspace_id)
}

/** The workspaces whose ids come after this one, for the operator of the server. */
export async function page(
  db: Db,
  after: string,
  limit: number,
): Promise<{ workspaceId: string; name: string; ownerEmail: string }[]> {
  const rows = await db
    .selectFrom('workspaces')
    .select(['workspace_id', 'name', 'owner_email'])
    .where('workspace_id', '>', after)
    .orderBy('workspace_id')
    .limit(limit)
    .execute()
  return rows.map((row) => ({ workspaceId: row.workspace_id, name: row.name, ownerEmail: row.owner_email }))
}

/** Whether no workspace exists yet. */
export async function isEmpty(db: Db): Promise<boolean> {
  return (await db.selectFrom('workspaces').select('workspace_id').limit(1).execute()).length === 0
}
