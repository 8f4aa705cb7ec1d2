import { sql } from 'kysely'
import type { Db } from '../engine/db.ts'
import { type Grant, isDefaultRole } from './grants.ts'
import { prepared, sqliteOf } from '../engine/prepared.ts'
import type { GrantTable } from '../schema/schema.ts'
import { padded } from '../engine/slices.ts'

export type AccessType = 'public' | 'organizationPrivate' | 'restricted'

export interface StoredDocument {
  /** Null if the document is in no folder. */
  folderId: string | null
  /** Null if inherited from the folder. */
  accessType: AccessType | null
  disabled: boolean
}

const selectOrganization = prepared(
  (db, of: { apiKey: string; organizationId: string }) =>
    db
      .selectFrom('organizations')
      .select('disabled')
      .where('api_key', '=', of.apiKey)
      .where('organization_id', '=', of.organizationId),
  { isSmallRead: true },
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
  { isSmallRead: true },
)

/** The documents with these ids that exist. Takes at most 500 ids. */
export async function findDocuments(
  db: Db,
  apiKey: string,
  organizationId: string,
  documentIds: readonly string[],
): Promise<Map<string, StoredDocument>> {
  if (documentIds.length === 0) return new Map()
  const rows = await selectDocuments(db, { apiKey, organizationId, documentIds: padded(documentIds) })
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

interface GrantsOf {
  apiKey: string
  organizationId: string
  userIds: readonly string[]
  documentIds: readonly string[]
  folderIds: readonly string[]
}

const selectGrants = (db: Db, of: Pick<GrantsOf, keyof GrantsOf>) => {
  const resources: [type: GrantTable['resource_type'], ids: readonly string[]][] = [
    ['organization', [of.organizationId]],
    ['inside', [of.organizationId]],
    ['folder', of.folderIds],
    ['document', of.documentIds],
  ]
  const query = db
    .selectFrom('grants')
    .select(['resource_type', 'resource_id', 'user_id', 'access_role', 'expires_at', 'set_at', 'role_set_at'])
    .where('api_key', '=', of.apiKey)
    .where('organization_id', '=', of.organizationId)
    .where('user_id', 'in', of.userIds)
  if (of.userIds.length === 1 && sqliteOf(db)) {
    // The other query reads all grants of its users on SQLite, which takes 50 ms for 200,000 of them. This one looks up each
    // resource. For many users, that would take longer.
    const pairs = resources.flatMap(([type, ids]) => ids.map((id) => sql`(${sql.lit(type)}, ${id})`))
    return query.where((eb) =>
      eb(eb.refTuple('resource_type', 'resource_id'), 'in', sql<never>`(values ${sql.join(pairs)})`),
    )
  }
  return query.where((eb) =>
    eb.or(
      resources
        .filter(([, ids]) => ids.length > 0)
        .map(([type, ids]) => eb.and([eb('resource_type', '=', type), eb('resource_id', 'in', ids)])),
    ),
  )
}

const selectFewGrants = prepared(selectGrants, { isSmallRead: true })
/** With more ids the query is built for each call. */
const maxPreparedIds = 64

/** Far below the number of parameters that either database accepts. */
const maxUsersPerQuery = 5000
/** Users per query for callers that pause between queries: SQLite reads all grants of a user, who may have thousands. */
const usersBetweenPauses = 8

/** A grant on one resource or, with type `inside`, the removal of a user from everything inside the organization. */
export interface StoredGrant extends Grant {
  type: GrantTable['resource_type']
  id: string
  /** Epoch milliseconds. */
  setAt: number
  /** When the role was sent, in Unix milliseconds. Absent: with the grant. */
  roleSetAt?: number
}

type GrantRow = Pick<
  GrantTable,
  'resource_type' | 'resource_id' | 'access_role' | 'expires_at' | 'set_at' | 'role_set_at'
>

export function toStoredGrant(userId: string, row: GrantRow): StoredGrant {
  const { access_role: accessRole, role_set_at: roleSetAt } = row
  return {
    type: row.resource_type,
    id: row.resource_id,
    userId,
    accessRole,
    expiresAt: row.expires_at,
    setAt: row.set_at,
    ...(isDefaultRole(row) ? { hasDefaultRole: true } : roleSetAt !== null && { roleSetAt }),
  }
}

/**
 * The grants of these users on the organization and on these documents and folders, including grants that have ended. Calls
 * `pause` before each query.
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
    // The query for one document and its folders runs whenever a client opens a document.
    const rows =
      documentIds.length === 1 && folderIds.length < maxPreparedIds && users.length <= maxPreparedIds
        ? await selectFewGrants(db, { ...of, userIds: padded(users) })
        : await selectGrants(db, of).execute()
    found.push(...rows)
  }
  return found.map((row) => toStoredGrant(row.user_id, row))
}
