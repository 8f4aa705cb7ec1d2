import type { Cursor, Db } from './engine/db.ts'
import { parse } from './engine/json.ts'
import { prepared } from './engine/prepared.ts'

/** The settings of an API key (spec 0.9, 1.8). */
export interface ApiKeyOptions {
  defaultDocumentAccessType: 'public' | 'restricted' | 'organizationPrivate'
  /** Whether clients create documents by opening them. */
  documentCreation: 'clients' | 'backends'
  enablePrivateComments: boolean
  requireJwtToken: boolean
  requireAutoOrgUser: boolean
  useAdvancedQueries: boolean
  useNotificationService: boolean
  persistenceDBRegion?: string
  realtimeDBRegion?: string
}

export const defaultOptions: ApiKeyOptions = {
  defaultDocumentAccessType: 'public',
  documentCreation: 'clients',
  enablePrivateComments: false,
  requireJwtToken: false,
  requireAutoOrgUser: true,
  useAdvancedQueries: true,
  useNotificationService: true,
}

export interface ApiKey {
  apiKey: string
  workspaceId: string
  name: string
  type: 'testing' | 'production'
  ownerEmail: string
  options: ApiKeyOptions
  /** Whether the API key has unfinished deletions. Stale where API keys are cached in memory. */
  hasDeletions?: boolean
  /** Set if the permission provider is on. Changes with every change of its settings. */
  providerRevision?: string
}

/** The stored data of a token. The token itself is derived from it (spec 26 #24). */
export interface TokenRecord {
  tokenId: string
  issuedAt: number
}

export interface AuthToken extends TokenRecord {
  name: string
  domains: string[]
}

const selectWithTokens = prepared(
  (db, { apiKey }: { apiKey: string }) =>
    db
      .selectFrom('api_keys')
      .leftJoin('auth_tokens', 'auth_tokens.api_key', 'api_keys.api_key')
      .select(['api_keys.api_key', 'workspace_id', 'api_keys.name', 'type', 'owner_email', 'options'])
      .select(['token_id', 'auth_tokens.name as token_name', 'domains', 'issued_at'])
      .select((eb) =>
        eb
          .selectFrom('deletions')
          .select((eb) => eb.fn.countAll<number>().as('count'))
          .whereRef('deletions.api_key', '=', 'api_keys.api_key')
          .as('deletions'),
      )
      .select((eb) =>
        eb
          .selectFrom('service_configs')
          .select('config')
          .whereRef('service_configs.api_key', '=', 'api_keys.api_key')
          .where('service', '=', 'permissionProvider')
          .where('enabled', '=', 1)
          .as('provider'),
      )
      .where('api_keys.api_key', '=', apiKey),
  { isSmallRead: true },
)

/**
 * Reads the API key with its valid tokens, in one query: on PostgreSQL every request begins with it. On SQLite the result
 * is cached.
 */
export async function find(
  db: Db,
  apiKey: string,
): Promise<{ key: ApiKey; tokens: AuthToken[] } | undefined> {
  const rows = await selectWithTokens(db, { apiKey })
  const [row] = rows
  if (!row) return undefined
  return {
    key: {
      apiKey: row.api_key,
      workspaceId: row.workspace_id,
      name: row.name,
      type: row.type,
      ownerEmail: row.owner_email,
      options: { ...defaultOptions, ...parse<Partial<ApiKeyOptions>>(row.options) },
      hasDeletions: (row.deletions ?? 0) > 0,
      ...(row.provider != null && { providerRevision: parse<{ revision: string }>(row.provider).revision }),
    },
    tokens: rows.flatMap(({ token_id, token_name, domains, issued_at }) =>
      token_id === null
        ? []
        : [
            {
              tokenId: token_id,
              name: token_name ?? '',
              domains: parse<string[]>(domains ?? '[]'),
              issuedAt: issued_at ?? 0,
            },
          ],
    ),
  }
}

/** The API keys of a workspace, by creation time, then id. */
export async function list(
  db: Db,
  workspaceId: string,
  { ids, limit, after }: { ids?: readonly string[]; limit: number; after: Cursor | undefined },
): Promise<(Pick<ApiKey, 'apiKey' | 'name' | 'type'> & { createdAt: number })[]> {
  if (ids?.length === 0) return []
  let query = db
    .selectFrom('api_keys')
    .select(['api_key', 'name', 'type', 'created_at'])
    .where('workspace_id', '=', workspaceId)
    .orderBy('created_at')
    .orderBy('api_key')
    .limit(limit)
  if (ids) query = query.where('api_key', 'in', ids)
  if (after) {
    const [createdAt, apiKey] = after as [number, string]
    query = query.where((eb) => eb(eb.refTuple('created_at', 'api_key'), '>', eb.tuple(createdAt, apiKey)))
  }
  const rows = await query.execute()
  return rows.map((row) => ({
    apiKey: row.api_key,
    name: row.name,
    type: row.type,
    createdAt: row.created_at,
  }))
}

export async function countProduction(db: Db, workspaceId: string): Promise<number> {
  const { count } = await db
    .selectFrom('api_keys')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('workspace_id', '=', workspaceId)
    .where('type', '=', 'production')
    .executeTakeFirstOrThrow()
  return count
}

/** Renames an API key. Returns false if the workspace does not have it. */
export async function rename(db: Db, workspaceId: string, apiKey: string, name: string): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('api_keys')
    .set({ name })
    .where('workspace_id', '=', workspaceId)
    .where('api_key', '=', apiKey)
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}

export async function setOptions(db: Db, apiKey: string, options: ApiKeyOptions): Promise<void> {
  await db
    .updateTable('api_keys')
    .set({ options: JSON.stringify(options) })
    .where('api_key', '=', apiKey)
    .execute()
}

export async function add(db: Db, key: ApiKey, now: number): Promise<void> {
  await db
    .insertInto('api_keys')
    .values({
      api_key: key.apiKey,
      workspace_id: key.workspaceId,
      name: key.name,
      type: key.type,
      owner_email: key.ownerEmail,
      options: JSON.stringify(key.options),
      created_at: now,
    })
    .execute()
}

/** Makes this token the only one of the API key. */
export async function replaceTokens(db: Db, apiKey: string, token: AuthToken): Promise<void> {
  await db.deleteFrom('auth_tokens').where('api_key', '=', apiKey).execute()
  await db
    .insertInto('auth_tokens')
    .values({
      api_key: apiKey,
      token_id: token.tokenId,
      name: token.name,
      domains: JSON.stringify(token.domains),
      issued_at: token.issuedAt,
    })
    .execute()
}

/** The oldest API keys of all workspaces, for the operator of the server. */
export async function some(
  db: Db,
  limit: number,
): Promise<Pick<ApiKey, 'apiKey' | 'workspaceId' | 'name'>[]> {
  const rows = await db
    .selectFrom('api_keys')
    .select(['api_key', 'workspace_id', 'name'])
    .orderBy('created_at')
    .orderBy('api_key')
    .limit(limit)
    .execute()
  return rows.map((row) => ({ apiKey: row.api_key, workspaceId: row.workspace_id, name: row.name }))
}
