import { sql } from 'kysely'
import type { AccessType } from '../access/access.ts'
import type { Cursor, Db } from '../engine/db.ts'
import type { FolderTable } from '../schema/schema.ts'
import { sqliteOf } from '../engine/prepared.ts'
import { slices } from '../engine/slices.ts'

/** The parent of top-level folders; no folder has this id. */
export const root = 'root'

export type { AccessType }

export interface StoredFolder {
  /** `root` for a top-level folder. */
  parentFolderId: string
  /** Null if the folder inherits the access type of its parent. */
  accessType: AccessType | null
}

export interface Folder extends StoredFolder {
  folderId: string
  folderName: string
  createdAt: number
  lastUpdated: number
}

const columns = [
  'folder_id',
  'folder_name',
  'parent_folder_id',
  'access_type',
  'created_at',
  'last_updated',
] as const
type Row = Pick<FolderTable, (typeof columns)[number]>

const toFolder = (row: Row): Folder => ({
  folderId: row.folder_id,
  folderName: row.folder_name,
  parentFolderId: row.parent_folder_id ?? root,
  accessType: row.access_type as AccessType | null,
  createdAt: row.created_at,
  lastUpdated: row.last_updated,
})

export async function find(
  db: Db,
  apiKey: string,
  organizationId: string,
  folderId: string,
): Promise<Folder | undefined> {
  const row = await db
    .selectFrom('folders')
    .select(columns)
    .where('api_key', '=', apiKey)
    .where('organization_id', '=', organizationId)
    .where('folder_id', '=', folderId)
    .executeTakeFirst()
  return row && toFolder(row)
}

export async function exists(
  db: Db,
  apiKey: string,
  organizationId: string,
  folderId: string,
): Promise<boolean> {
  return (await find(db, apiKey, organizationId, folderId)) !== undefined
}

export interface Window {
  limit: number
  after: Cursor | undefined
}

/** All folders, or those directly inside a folder or `root`, by creation time, then id. */
export async function list(
  db: Db,
  apiKey: string,
  organizationId: string,
  parentFolderId: string | undefined,
  { limit, after }: Window,
): Promise<Folder[]> {
  let query = db
    .selectFrom('folders')
    .select(columns)
    .where('api_key', '=', apiKey)
    .where('organization_id', '=', organizationId)
    .limit(limit)
  if (parentFolderId !== undefined) {
    const parent = parentColumn(parentFolderId)
    // All rows have the same parent. For a null parent PostgreSQL does not see that: without this column it would sort the
    // rows.
    query = query.where('parent_folder_id', parent === null ? 'is' : '=', parent).orderBy('parent_folder_id')
  }
  query = query.orderBy('created_at').orderBy('folder_id')
  if (after) {
    const [createdAt, id] = after as [number, string]
    query = query.where((eb) => eb(eb.refTuple('created_at', 'folder_id'), '>', eb.tuple(createdAt, id)))
  }
  return (await query.execute()).map(toFolder)
}

/** The folders directly inside these folders, in any order. */
export async function children(
  db: Db,
  apiKey: string,
  organizationId: string,
  folderIds: readonly string[],
): Promise<Folder[]> {
  const found: Folder[] = []
  for (const some of slices(folderIds)) {
    for (const folder of await someChildren(db, apiKey, organizationId, some)) found.push(folder)
  }
  return found
}

/** As `children`, for few folders. Returns at most `limit` children. */
export async function someChildren(
  db: Db,
  apiKey: string,
  organizationId: string,
  folderIds: readonly string[],
  limit?: number,
): Promise<Folder[]> {
  const query = sqliteOf(db) ? childrenOnSqlite : childrenOnPostgres
  const { rows } = await query(apiKey, organizationId, folderIds, limit).execute(db)
  return rows.map(toFolder)
}

const columnList = sql.join(columns.map((column) => sql.ref(column)))
const limitedTo = (limit: number | undefined) => (limit === undefined ? sql`` : sql`limit ${limit}`)

const childrenOnSqlite = (
  apiKey: string,
  organizationId: string,
  folderIds: readonly string[],
  limit: number | undefined,
) => sql<Row>`
  select ${columnList} from folders
  where api_key = ${apiKey} and organization_id = ${organizationId} and parent_folder_id in (${sql.join(folderIds)})
  ${limitedTo(limit)}`

/** One look-up per parent. For a list of parents, PostgreSQL may read all folders, in particular with old statistics. */
const childrenOnPostgres: typeof childrenOnSqlite = (apiKey, organizationId, folderIds, limit) => sql<Row>`
  select child.* from unnest(${folderIds}::text[]) as parent(id) cross join lateral (
    select ${columnList} from folders
    where api_key = ${apiKey} and organization_id = ${organizationId} and parent_folder_id = parent.id
    order by parent_folder_id, created_at
    ${limitedTo(limit)}
  ) as child
  ${limitedTo(limit)}`

/** Adds folders. None of them may exist. */
export async function add(
  db: Db,
  apiKey: string,
  organizationId: string,
  folders: readonly Omit<Folder, 'createdAt' | 'lastUpdated'>[],
  now: number,
): Promise<void> {
  if (folders.length === 0) return
  await db
    .insertInto('folders')
    .values(folders.map((folder) => toRow(apiKey, organizationId, folder, now)))
    // Only a folder that another transaction adds at the same time conflicts. This transaction then collides and runs again.
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

/** Creates the folder at the top level, named by its id, if it does not exist (spec 0.8). */
export async function ensureAtTop(
  db: Db,
  apiKey: string,
  organizationId: string,
  folderId: string,
  now: number,
): Promise<void> {
  if (folderId === root) return
  const folder = { folderId, folderName: folderId, parentFolderId: root, accessType: null }
  await db
    .insertInto('folders')
    .values(toRow(apiKey, organizationId, folder, now))
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

const parentColumn = (parentFolderId: string) => (parentFolderId === root ? null : parentFolderId)

const toRow = (
  apiKey: string,
  organizationId: string,
  folder: Omit<Folder, 'createdAt' | 'lastUpdated'>,
  now: number,
): FolderTable => ({
  api_key: apiKey,
  organization_id: organizationId,
  folder_id: folder.folderId,
  folder_name: folder.folderName,
  parent_folder_id: parentColumn(folder.parentFolderId),
  access_type: folder.accessType,
  created_at: now,
  last_updated: now,
})

export async function update(
  db: Db,
  apiKey: string,
  organizationId: string,
  folderId: string,
  { folderName, parentFolderId }: { folderName?: string; parentFolderId?: string },
  now: number,
): Promise<void> {
  await db
    .updateTable('folders')
    .set({
      ...(folderName !== undefined && { folder_name: folderName }),
      ...(parentFolderId !== undefined && { parent_folder_id: parentColumn(parentFolderId) }),
      last_updated: now,
    })
    .where('api_key', '=', apiKey)
    .where('organization_id', '=', organizationId)
    .where('folder_id', '=', folderId)
    .execute()
}

/** Sets the access type of the folders; with null they inherit it. Returns the ids of those that exist. */
export async function setAccessType(
  db: Db,
  apiKey: string,
  organizationId: string,
  folderIds: readonly string[],
  accessType: AccessType | null,
  now: number,
): Promise<ReadonlySet<string>> {
  const rows = await db
    .updateTable('folders')
    .set({ access_type: accessType, last_updated: now })
    .where('api_key', '=', apiKey)
    .where('organization_id', '=', organizationId)
    .where('folder_id', 'in', folderIds)
    .returning('folder_id')
    .execute()
  return new Set(rows.map((row) => row.folder_id))
}
