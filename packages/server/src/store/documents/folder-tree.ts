import type { AccessType } from '../access/access.ts'
import type { Db } from '../engine/db.ts'
import { removeWithoutForeignKey } from './documents.ts'
import * as folders from './folders.ts'
import { root, type StoredFolder } from './folders.ts'
import { notRemoved } from '../access/removed-grants.ts'
import { prepared } from '../engine/prepared.ts'
import { padded, slices } from '../engine/slices.ts'

/** Folders by id, with all folders above them. */
export type FolderTree = Map<string, StoredFolder>

/**
 * The ids of the folder and of the folders above it, the nearest first; empty for `root`. Ends where it meets a folder for the
 * second time: a tree is read in several steps, so folders that move in between may leave a circle in it.
 */
export function chain(tree: FolderTree, folderId: string): string[] {
  const ids = new Set<string>()
  for (let id = folderId; tree.has(id) && !ids.has(id); id = tree.get(id)?.parentFolderId ?? root) ids.add(id)
  return [...ids]
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

/** One query reads this many chains: with ids of 256 characters, each chain takes SQLite 2 ms, on the event loop. */
const maxChainsPerQuery = 8
/** More chains are read level by level, this many folders per query. */
const maxFoldersPerQuery = 64

/** Reads these folders and all folders above them. Calls `pause` between queries. */
export async function findFolderChains(
  db: Db,
  apiKey: string,
  organizationId: string,
  folderIds: readonly string[],
  pause?: () => Promise<void>,
): Promise<FolderTree> {
  const found: FolderTree = new Map()
  const add = (
    rows: readonly { folder_id: string; parent_folder_id: string | null; access_type: string | null }[],
  ) => {
    for (const { folder_id, parent_folder_id, access_type } of rows) {
      const accessType = access_type as AccessType | null
      found.set(folder_id, { parentFolderId: parent_folder_id ?? root, accessType })
    }
  }
  if (folderIds.length === 0) return found
  if (folderIds.length === 1) add(await selectChain(db, { apiKey, organizationId, folderIds }))
  else if (folderIds.length <= maxChainsPerQuery) {
    add(await selectChains(db, { apiKey, organizationId, folderIds }).execute())
  } else {
    // In one query, 1,000 chains would hold the event loop for 2 s on SQLite, and take PostgreSQL 6 s.
    for (let level: readonly string[] = folderIds; level.length > 0;) {
      for (let at = 0; at < level.length; at += maxFoldersPerQuery) {
        if (found.size > 0) await pause?.()
        const some = padded(level.slice(at, at + maxFoldersPerQuery))
        add(await selectFolders(db, { apiKey, organizationId, folderIds: some }))
      }
      const above = new Set(level.flatMap((id) => found.get(id)?.parentFolderId ?? []))
      level = [...above].filter((id) => id !== root && !found.has(id))
    }
  }
  return found
}

/** The ids of the folder and of all folders below it, one list per level. */
async function levelsOf(
  db: Db,
  apiKey: string,
  organizationId: string,
  folderId: string,
): Promise<string[][]> {
  const levels: string[][] = []
  for (let level = [folderId]; level.length > 0;) {
    levels.push(level)
    level = (await folders.children(db, apiKey, organizationId, level)).map((folder) => folder.folderId)
  }
  return levels
}

/** The ids of at most `max` folders below this one that contain no folders. Empty if this folder contains no folders. */
export async function leafFolders(
  db: Db,
  apiKey: string,
  organizationId: string,
  folderId: string,
  max: number,
): Promise<string[]> {
  const childrenOf = async (ids: readonly string[], limit: number) =>
    folders.someChildren(db, apiKey, organizationId, ids, limit)
  let children = await childrenOf([folderId], max)
  for (;;) {
    const ids = children.map((child) => child.folderId)
    const [below] = ids.length > 0 ? await childrenOf(ids, 1) : []
    if (!below) return ids
    children = await childrenOf([below.parentFolderId], max)
  }
}

/** How many levels of folders are below the folder. */
export const levelsBelow = async (db: Db, apiKey: string, organizationId: string, folderId: string) =>
  (await levelsOf(db, apiKey, organizationId, folderId)).length - 1

/**
 * Removes the folder with its subfolders, their documents and the grants on all of them. Returns the ids of the removed
 * documents, or undefined if the folder does not exist.
 */
export async function remove(
  db: Db,
  apiKey: string,
  organizationId: string,
  folderId: string,
): Promise<string[] | undefined> {
  const ids = (await levelsOf(db, apiKey, organizationId, folderId)).flat()
  const removed: string[] = []
  for (const folderIds of slices(ids)) {
    const documents = db
      .selectFrom('documents')
      .select('document_id')
      .where('api_key', '=', apiKey)
      .where('organization_id', '=', organizationId)
      .where('folder_id', 'in', folderIds)
    for (const { document_id: id } of await documents.execute()) removed.push(id)
    await removeWithoutForeignKey(db, apiKey, organizationId, documents)
    await db
      .deleteFrom('grants')
      .where('api_key', '=', apiKey)
      .where('organization_id', '=', organizationId)
      .where('resource_type', '=', 'folder')
      .where('resource_id', 'in', folderIds)
      .where(notRemoved)
      .execute()
  }
  const { numDeletedRows } = await db
    .deleteFrom('folders')
    .where('api_key', '=', apiKey)
    .where('organization_id', '=', organizationId)
    .where('folder_id', '=', folderId)
    .executeTakeFirstOrThrow()
  return numDeletedRows > 0n ? removed : undefined
}
