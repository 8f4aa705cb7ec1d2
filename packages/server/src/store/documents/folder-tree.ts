import type { StoredFolder } from '../access/access.ts'
import type { Db } from '../engine/db.ts'
import { removeWithoutForeignKey } from './documents.ts'
import * as folders from './folders.ts'
import { root } from './folders.ts'
import { notRemoved } from '../access/removed-grants.ts'
import { slices } from '../engine/slices.ts'

/** Folders by id, with all folders above them. */
export type FolderTree = Map<string, StoredFolder>

/**
 * The ids of the folder and of the folders above it, the nearest first; empty for `root`. A tree is read in several steps, so
 * folders that move in between may leave a circle in it.
 */
export function chain(tree: FolderTree, folderId: string): string[] {
  const ids = new Set<string>()
  for (let id = folderId; tree.has(id) && !ids.has(id); id = tree.get(id)?.parentFolderId ?? root) ids.add(id)
  return [...ids]
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

/** At most `max` folders below this one that contain no folders; empty if the folder itself contains none. */
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

/** The number of folder levels below the folder. */
export const levelsBelow = async (db: Db, apiKey: string, organizationId: string, folderId: string) =>
  (await levelsOf(db, apiKey, organizationId, folderId)).length - 1

/**
 * Removes the folder with its subfolders, their documents and the grants on all of them. Returns the ids of the documents;
 * undefined if the folder does not exist.
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
