import type { Folder as FolderView } from '@plenum/protocol'
import type { ApiKey } from '../../store/api-keys.ts'
import type { FolderTree } from '../../store/documents/folder-tree.ts'
import { type Folder, root } from '../../store/documents/folders.ts'
import { EncodedJson } from '../../calls/encoded-json.ts'
import { maxAnswerBytes, type FolderRead, tooLarge } from './reads.ts'

/** Characters that are encoded to bytes at once. */
const maxPieceLength = 65_536

/** A larger answer waits for other large answers of the same API key. */
const maxSmallAnswerBytes = 1024 * 1024

interface Above {
  /** From `root` down. */
  ancestors: string[]
  /** The access type that applies below. */
  accessType: FolderView['accessType']
}

/** Encodes the folders with their subfolders as JSON, a slice at a time. */
export async function encodeFolders(
  { organizationId, read }: FolderRead,
  { apiKey, options }: Pick<ApiKey, 'apiKey' | 'options'>,
  tree: FolderTree,
  topFolders: readonly Folder[],
  inside: ReadonlyMap<string, readonly Folder[]>,
): Promise<EncodedJson> {
  const top: Above = { ancestors: [root], accessType: options.defaultDocumentAccessType }
  const known = new Map<string, Above>([[root, top]])

  /** What applies to everything directly inside a folder. */
  function below(folderId: string): Above {
    const found = known.get(folderId)
    if (found) return found
    const folder = tree.get(folderId)
    if (!folder) return top
    // The tree is read in several steps, so a concurrent move may leave a cycle in it. This entry ends the recursion.
    known.set(folderId, top)
    const above = below(folder.parentFolderId)
    const result = {
      ancestors: [...above.ancestors, folderId],
      accessType: folder.accessType ?? above.accessType,
    }
    known.set(folderId, result)
    return result
  }

  function present(folder: Folder): FolderView {
    const { folderId, folderName, parentFolderId, accessType, createdAt, lastUpdated } = folder
    const above = below(parentFolderId)
    return {
      folderId,
      folderName,
      organizationId,
      parentFolderId,
      apiKey,
      createdAt,
      lastUpdated,
      ancestors: above.ancestors,
      accessType: accessType ?? above.accessType,
      inheritAccessFromParent: accessType === null && parentFolderId !== root,
    }
  }

  function* write(siblings: readonly Folder[]): Generator<string> {
    for (const [index, folder] of siblings.entries()) {
      const text = JSON.stringify(present(folder))
      const subFolders = inside.get(folder.folderId)
      const comma = index === 0 ? '' : ','
      if (!subFolders) yield comma + text
      else {
        yield `${comma}${text.slice(0, -1)},"subFolders":[`
        yield* write(subFolders)
        yield ']}'
      }
    }
  }

  const pieces: Buffer[] = []
  let text = '['
  let bytes = 0
  const flush = () => {
    const piece = Buffer.from(text)
    text = ''
    bytes += piece.length
    if (bytes > maxAnswerBytes) throw tooLarge()
    pieces.push(piece)
  }
  for (const part of write(topFolders)) {
    text += part
    if (text.length < maxPieceLength) continue
    flush()
    if (bytes > maxSmallAnswerBytes) await read.becomeLarge()
    if (read.isSliceOver) await read.nextSlice()
  }
  text += ']'
  flush()
  return new EncodedJson(...pieces)
}
