import type { Db } from '../engine/db.ts'
import type { Grant } from './grants.ts'
import { prepared } from '../engine/prepared.ts'
import type { GrantTable } from '../schema/schema.ts'
import { padded } from '../engine/slices.ts'

type AccessType = 'public' | 'organizationPrivate' | 'restricted'

export interface StoredDocument {
  /** Null at root. */
  folderId: string | null
  /** Null: inherited. */
  accessType: AccessType | null
  disabled: boolean
}

export interface StoredFolder {
  /** `root` at the top. */
  parentFolderId: string
  /** Null: inherited. */
  accessType: AccessType | null
}

const selectOrganization = prepared((db, of: { apiKey: string; organizationId: string }) =>
  db
    .selectFrom('organizations')
    .select('disabled')
    .where('api_key', '=', of.apiKey)
    .where('organization_id', '=', of.organizationId),
)

export async function findOrganization(
  db: Db,
  apiKey: string,
  organizationId: string,
): Promise<{ disabled: boolean } | undefined> {
  const [row] = await selectOrganization(db, { apiKey, organizationId })
  return row && { disabled: row.disabled === 1 }
}

const selectDocuments = prepared(
  (db, of: { apiKey: string; organizationId: string; documentIds: readonly string[] }) =>
    db
      .selectFrom('documents')
      .select(['document_id', 'folder_id', 'access_type', 'disabled'])
      .where('api_key', '=', of.apiKey)
      .where('organization_id', '=', of.organizationId)
      .where('document_id', 'in', of.documentIds),
)

/** Of at most 500 ids. */
export async function findDocuments(
  db: Db,
  apiKey: string,
  organizationId: string,
  documentIds: readonly string[],
): Promise<Map<string, StoredDocument>> {
  if (documentIds.length === 0) return new Map()
  const rows = await selectDocuments(db, { apiKey, organizationId, documentIds })
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

const selectChains = (db: Db, of: { apiKey: string; organizationId: string; folderIds: readonly string[] }) =>
  db
    .withRecursive('chain(folder_id, parent_folder_id, access_type)', (query) =>
      query
        .selectFrom('folders')
        .select(['folder_id', 'parent_folder_id', 'access_type'])
        .where('api_key', '=', of.apiKey)
        .where('organization_id', '=', of.organizationId)
        .where('folder_id', 'in', of.folderIds)
        // Not `union all`: a folder that several chains share is walked once.
        .union(
          query
            .selectFrom('chain')
            .innerJoin('folders', 'folders.folder_id', 'chain.parent_folder_id')
            .select(['folders.folder_id', 'folders.parent_folder_id', 'folders.access_type'])
            .where('folders.api_key', '=', of.apiKey)
            .where('folders.organization_id', '=', of.organizationId),
        ),
    )
    .selectFrom('chain')
    .select(['folder_id', 'parent_folder_id', 'access_type'])

const selectChain = prepared(selectChains)

const selectFolders = prepared(
  (db, of: { apiKey: string; organizationId: string; folderIds: readonly string[] }) =>
    db
      .selectFrom('folders')
      .select(['folder_id', 'parent_folder_id', 'access_type'])
      .where('api_key', '=', of.apiKey)
      .where('organization_id', '=', of.organizationId)
      .where('folder_id', 'in', of.folderIds),
)

/** One query reads this many chains: with ids of 256 characters each takes SQLite 2 ms, on the event loop. */
const maxChainsPerQuery = 8
/** One query reads this many folders when there are more chains. */
const maxFoldersPerQuery = 64

/** These folders and all folders above them. `pause` is called between queries. */
export async function findFolderChains(
  db: Db,
  apiKey: string,
  organizationId: string,
  folderIds: readonly string[],
  pause?: () => Promise<void>,
): Promise<Map<string, StoredFolder>> {
  const found = new Map<string, StoredFolder>()
  const add = (
    rows: readonly { folder_id: string; parent_folder_id: string | null; access_type: string | null }[],
  ) => {
    for (const { folder_id, parent_folder_id, access_type } of rows) {
      const accessType = access_type as AccessType | null
      found.set(folder_id, { parentFolderId: parent_folder_id ?? 'root', accessType })
    }
  }
  if (folderIds.length === 0) return found
  if (folderIds.length === 1) add(await selectChain(db, { apiKey, organizationId, folderIds }))
  else if (folderIds.length <= maxChainsPerQuery) {
    add(await selectChains(db, { apiKey, organizationId, folderIds }).execute())
  } else {
    // Level by level. In one query 1,000 chains hold the event loop for 2 s on SQLite, and take PostgreSQL 6 s.
    for (let level: readonly string[] = folderIds; level.length > 0;) {
      for (let at = 0; at < level.length; at += maxFoldersPerQuery) {
        if (found.size > 0) await pause?.()
        const some = padded(level.slice(at, at + maxFoldersPerQuery))
        add(await selectFolders(db, { apiKey, organizationId, folderIds: some }))
      }
      const above = new Set(level.flatMap((id) => found.get(id)?.parentFolderId ?? []))
      level = [...above].filter((id) => id !== 'root' && !found.has(id))
    }
  }
  return found
}

interface GrantsOf {
  apiKey: string
  organizationId: string
  userIds: readonly string[]
  documentIds: readonly string[]
  folderIds: readonly string[]
}

const selectGrants = (db: Db, of: Pick<GrantsOf, keyof GrantsOf>) =>
  db
    .selectFrom('grants')
    .select(['resource_type', 'resource_id', 'user_id', 'access_role', 'expires_at', 'set_at'])
    .where('api_key', '=', of.apiKey)
    .where('organization_id', '=', of.organizationId)
    .where('user_id', 'in', of.userIds)
    .where((eb) => {
      const resources: [type: GrantTable['resource_type'], ids: readonly string[]][] = [
        ['organization', [of.organizationId]],
        ['inside', [of.organizationId]],
        ['folder', of.folderIds],
        ['document', of.documentIds],
      ]
      return eb.or(
        resources
          .filter(([, ids]) => ids.length > 0)
          .map(([type, ids]) => eb.and([eb('resource_type', '=', type), eb('resource_id', 'in', ids)])),
      )
    })

const selectFewGrants = prepared(selectGrants)
/** For more ids the query is not compiled ahead. */
const maxPreparedIds = 64

/** Far below the number of parameters that either database accepts. */
const maxUsersPerQuery = 5000
/** For callers that pause between queries: SQLite reads all grants of a user, who may have thousands. */
const usersBetweenPauses = 8

/** A grant on one resource, or with type `inside` the removal from all resources of the organization. */
export interface StoredGrant extends Grant {
  type: GrantTable['resource_type']
  id: string
  /** Epoch milliseconds. */
  setAt: number
}

/**
 * The grants of these users on the organization and on these documents and folders, including ended grants. `pause` is called
 * before each query.
 */
export async function findGrants(
  db: Db,
  apiKey: string,
  organizationId: string,
  userIds: readonly string[],
  { documentIds, folderIds }: { documentIds: readonly string[]; folderIds: readonly string[] },
  pause?: () => Promise<void>,
): Promise<StoredGrant[]> {
  const found = []
  const usersPerQuery = pause ? usersBetweenPauses : maxUsersPerQuery
  for (let from = 0; from < userIds.length; from += usersPerQuery) {
    await pause?.()
    const users = userIds.slice(from, from + usersPerQuery)
    const of = { apiKey, organizationId, userIds: users, documentIds, folderIds }
    // One document and its folders: the query of everyone who opens a document.
    const rows =
      documentIds.length === 1 && folderIds.length < maxPreparedIds && users.length <= maxPreparedIds
        ? await selectFewGrants(db, { ...of, userIds: padded(users) })
        : await selectGrants(db, of).execute()
    found.push(...rows)
  }
  return found.map((row) => ({
    type: row.resource_type,
    id: row.resource_id,
    userId: row.user_id,
    accessRole: row.access_role,
    expiresAt: row.expires_at,
    setAt: row.set_at,
  }))
}
