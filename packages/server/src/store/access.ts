import type { Db } from './db.ts'
import type { Grant, Level } from './grants.ts'

type AccessType = 'public' | 'organizationPrivate' | 'restricted'

export interface StoredDocument {
  /** Null at root. */
  folderId: string | null
  /** Null inherits. */
  accessType: AccessType | null
  disabled: boolean
}

export interface StoredFolder {
  /** `root` at the top. */
  parentFolderId: string
  /** Null inherits. */
  accessType: AccessType | null
}

export async function findOrganization(
  db: Db,
  apiKey: string,
  organizationId: string,
): Promise<{ disabled: boolean } | undefined> {
  const row = await db
    .selectFrom('organizations')
    .select('disabled')
    .where('api_key', '=', apiKey)
    .where('organization_id', '=', organizationId)
    .executeTakeFirst()
  return row && { disabled: row.disabled === 1 }
}

export async function findDocuments(
  db: Db,
  apiKey: string,
  organizationId: string,
  documentIds: readonly string[],
): Promise<Map<string, StoredDocument>> {
  if (documentIds.length === 0) return new Map()
  const rows = await db
    .selectFrom('documents')
    .select(['document_id', 'folder_id', 'access_type', 'disabled'])
    .where('api_key', '=', apiKey)
    .where('organization_id', '=', organizationId)
    .where('document_id', 'in', documentIds)
    .execute()
  return new Map(
    rows.map((row) => [
      row.document_id,
      {
        folderId: row.folder_id,
        accessType: row.access_type as AccessType | null,
        disabled: row.disabled === 1,
      },
    ]),
  )
}

/** These folders and all above them. */
export async function findFolderChains(
  db: Db,
  apiKey: string,
  organizationId: string,
  folderIds: readonly string[],
): Promise<Map<string, StoredFolder>> {
  if (folderIds.length === 0) return new Map()
  const rows = await db
    .withRecursive('chain(folder_id, parent_folder_id, access_type)', (query) =>
      query
        .selectFrom('folders')
        .select(['folder_id', 'parent_folder_id', 'access_type'])
        .where('api_key', '=', apiKey)
        .where('organization_id', '=', organizationId)
        .where('folder_id', 'in', folderIds)
        // Not `union all`: a folder that several chains share is walked once.
        .union(
          query
            .selectFrom('chain')
            .innerJoin('folders', 'folders.folder_id', 'chain.parent_folder_id')
            .select(['folders.folder_id', 'folders.parent_folder_id', 'folders.access_type'])
            .where('folders.api_key', '=', apiKey)
            .where('folders.organization_id', '=', organizationId),
        ),
    )
    .selectFrom('chain')
    .select(['folder_id', 'parent_folder_id', 'access_type'])
    .execute()
  return new Map(
    rows.map((row) => [
      row.folder_id,
      { parentFolderId: row.parent_folder_id ?? 'root', accessType: row.access_type as AccessType | null },
    ]),
  )
}

/** Users of one query: far below the number of parameters that either database takes. */
const usersAtOnce = 5000

/** The grants of these users on the organization and on these of its documents and folders. */
export async function findGrants(
  db: Db,
  apiKey: string,
  organizationId: string,
  userIds: readonly string[],
  { documentIds, folderIds }: { documentIds: readonly string[]; folderIds: readonly string[] },
): Promise<(Grant & { type: Level['type']; id: string })[]> {
  const resources: [type: Level['type'], ids: readonly string[]][] = [
    ['organization', [organizationId]],
    ['folder', folderIds],
    ['document', documentIds],
  ]
  const found = []
  for (let from = 0; from < userIds.length; from += usersAtOnce) {
    const rows = await db
      .selectFrom('grants')
      .select(['resource_type', 'resource_id', 'user_id', 'access_role', 'expires_at'])
      .where('api_key', '=', apiKey)
      .where('organization_id', '=', organizationId)
      .where('user_id', 'in', userIds.slice(from, from + usersAtOnce))
      .where((eb) =>
        eb.or(
          resources
            .filter(([, ids]) => ids.length > 0)
            .map(([type, ids]) => eb.and([eb('resource_type', '=', type), eb('resource_id', 'in', ids)])),
        ),
      )
      .execute()
    found.push(...rows)
  }
  return found.map((row) => ({
    type: row.resource_type,
    id: row.resource_id,
    userId: row.user_id,
    accessRole: row.access_role,
    expiresAt: row.expires_at,
  }))
}
