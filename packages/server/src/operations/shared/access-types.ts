import { effectiveAccess } from '../../access/permissions.ts'
import type { ApiKey } from '../../store/api-keys.ts'
import { chain, type FolderTree } from '../../store/documents/folder-tree.ts'
import type { AccessType } from '../../store/documents/folders.ts'

type Caller = Pick<ApiKey, 'apiKey' | 'options'>

/**
 * The access type that applies in a folder (spec 25.2) or, with `own`, to a document in it whose own access type is `own`.
 */
export function accessTypeAt(
  { options }: Caller,
  tree: FolderTree,
  folderId: string,
  own: AccessType | null = null,
): AccessType {
  return effectiveAccess({
    document: { accessType: own, disabled: false },
    folders: chain(tree, folderId).map((id) => ({ accessType: tree.get(id)?.accessType ?? null })),
    defaultAccessType: options.defaultDocumentAccessType,
  }).accessType
}
