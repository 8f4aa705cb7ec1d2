import type { Folder } from '@plenum/protocol'
import { effectiveAccess } from '../access/permissions.ts'
import type { ApiKey } from '../store/api-keys.ts'
import type { Db } from '../store/db.ts'
import { chain, type FolderTree, inside, treeOf } from '../store/folder-tree.ts'
import * as folders from '../store/folders.ts'
import { root } from '../store/folders.ts'

type Caller = Pick<ApiKey, 'apiKey' | 'options'>

/** The access type in force below that folder (spec 25.2), or for a document with a type of its own. */
export function accessTypeAt(
  { options }: Caller,
  tree: FolderTree,
  folderId: string,
  own: folders.AccessType | null = null,
): folders.AccessType {
  return effectiveAccess({
    document: { accessType: own, disabled: false },
    folders: chain(tree, folderId).map((id) => ({ accessType: tree.get(id)?.accessType ?? null })),
    defaultAccessType: options.defaultDocumentAccessType,
  }).accessType
}

/** A folder as it is read; `tree` holds it and all above it. */
export function present(
  caller: Caller,
  organizationId: string,
  tree: FolderTree,
  folder: folders.Folder,
): Folder {
  const { folderId, folderName, parentFolderId, accessType, createdAt, lastUpdated } = folder
  return {
    folderId,
    folderName,
    organizationId,
    parentFolderId,
    apiKey: caller.apiKey,
    createdAt,
    lastUpdated,
    ancestors: [root, ...chain(tree, parentFolderId).toReversed()],
    accessType: accessTypeAt(caller, tree, folderId),
    inheritAccessFromParent: accessType === null && parentFolderId !== root,
  }
}

/** The folders with what is inside them, so many levels deep. */
export async function nest(
  db: Db,
  caller: Caller,
  organizationId: string,
  tops: readonly folders.Folder[],
  levels: number,
): Promise<Folder[]> {
  const { apiKey } = caller
  const ids = tops.map((folder) => folder.folderId)
  const below = await inside(db, apiKey, organizationId, ids, levels)
  const tree = await treeOf(db, apiKey, organizationId, [...tops, ...below])
  const children = new Map<string, folders.Folder[]>()
  for (const folder of below) {
    const siblings = children.get(folder.parentFolderId)
    if (siblings) siblings.push(folder)
    else children.set(folder.parentFolderId, [folder])
  }
  const withSubFolders = (folder: folders.Folder): Folder => {
    const subFolders = children.get(folder.folderId)
    return {
      ...present(caller, organizationId, tree, folder),
      ...(subFolders && { subFolders: subFolders.map(withSubFolders) }),
    }
  }
  return tops.map(withSubFolders)
}
