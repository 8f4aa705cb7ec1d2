import type { Folder as FolderView } from '@plenum/protocol'
import type { ApiKey } from '../../store/api-keys.ts'
import type { FolderTree } from '../../store/documents/folder-tree.ts'
import { type Folder, root } from '../../store/documents/folders.ts'
import { WrittenJson } from '../../calls/written-json.ts'
import { maxAnswerBytes, type Place, tooLarge } from './reads.ts'

/** Characters that are made bytes in one go. */
const pieceLength = 65_536

/** An answer with more waits for others of its key. */
const largeBytes = 1024 * 1024

interface Above {
  /** From `root` down. */
  ancestors: string[]
  /** In force below. */
  accessType: FolderView['accessType']
}

/** The folders as JSON, each with what is inside it, written a slice at a time. */
export async function writeFolders(
  { organizationId, read }: Place,
  { apiKey, options }: Pick<ApiKey, 'apiKey' | 'options'>,
  tree: FolderTree,
  tops: readonly Folder[],
  inside: ReadonlyMap<string, readonly Folder[]>,
): Promise<WrittenJson> {
  const top: Above = { ancestors: [root], accessType: options.defaultDocumentAccessType }
  const known = new Map<string, Above>([[root, top]])

  /** What is true of everything directly inside a folder. */
  function below(folderId: string): Above {
    const found = known.get(folderId)
    if (found) return found
    const folder = tree.get(folderId)
    if (!folder) return top
    // A tree is read in several steps, so moves in between may have left a circle in it: it ends here.
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
  for (const part of write(tops)) {
    text += part
    if (text.length < pieceLength) continue
    flush()
    if (bytes > largeBytes) await read.becomeLarge()
    if (read.isDue) await read.next()
  }
  text += ']'
  flush()
  return new WrittenJson(...pieces)
}
