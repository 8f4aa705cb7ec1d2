import type { Folder as FolderView } from '@plenum/protocol'
import type { ApiKey } from '../../store/api-keys.ts'
import type { FolderTree } from '../../store/documents/folder-tree.ts'
import { type Folder, root } from '../../store/documents/folders.ts'
import { EncodedJson } from '../../calls/answers/encoded-json.ts'
import { maxAnswerBytes, type FolderRead, tooLarge } from './reads.ts'

/** Characters that are turned into bytes without a pause. */
const maxPieceLength = 65_536

/** A larger answer waits until few other large answers of the same API key are open. */
const maxSmallAnswerBytes = 1024 * 1024

/** What a folder passes on to everything directly inside it. */
interface Inherited {
  /** The ids from `root` down to the folder itself. */
  ancestors: string[]
  accessType: FolderView['accessType']
}

/** Shows folders as callers read them. Computes only once what each folder passes on. */
class FolderPresenter {
  readonly #caller: Pick<ApiKey, 'apiKey' | 'options'>
  readonly #organizationId: string
  readonly #tree: FolderTree
  readonly #inherited: Map<string, Inherited>
  readonly #fromRoot: Inherited

  constructor(caller: Pick<ApiKey, 'apiKey' | 'options'>, organizationId: string, tree: FolderTree) {
    this.#caller = caller
    this.#organizationId = organizationId
    this.#tree = tree
    this.#fromRoot = { ancestors: [root], accessType: caller.options.defaultDocumentAccessType }
    this.#inherited = new Map([[root, this.#fromRoot]])
  }

  present(folder: Folder): FolderView {
    const { folderId, folderName, parentFolderId, accessType, createdAt, lastUpdated } = folder
    const inherited = this.#inheritedIn(parentFolderId)
    return {
      folderId,
      folderName,
      organizationId: this.#organizationId,
      parentFolderId,
      apiKey: this.#caller.apiKey,
      createdAt,
      lastUpdated,
      ancestors: inherited.ancestors,
      accessType: accessType ?? inherited.accessType,
      inheritAccessFromParent: accessType === null && parentFolderId !== root,
    }
  }

  #inheritedIn(folderId: string): Inherited {
    const known = this.#inherited.get(folderId)
    if (known) return known
    const folder = this.#tree.get(folderId)
    if (!folder) return this.#fromRoot
    // The tree is read in several steps, so a concurrent move may leave a cycle in it. This entry ends the recursion.
    this.#inherited.set(folderId, this.#fromRoot)
    const above = this.#inheritedIn(folder.parentFolderId)
    const result = {
      ancestors: [...above.ancestors, folderId],
      accessType: folder.accessType ?? above.accessType,
    }
    this.#inherited.set(folderId, result)
    return result
  }
}

/** Encodes the folders with their subfolders as JSON, a slice at a time. */
export async function encodeFolders(
  { organizationId, read }: FolderRead,
  caller: Pick<ApiKey, 'apiKey' | 'options'>,
  tree: FolderTree,
  topFolders: readonly Folder[],
  inside: ReadonlyMap<string, readonly Folder[]>,
): Promise<EncodedJson> {
  const presenter = new FolderPresenter(caller, organizationId, tree)
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
  for (const part of jsonParts(presenter, topFolders, inside)) {
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

/** Yields the JSON of the folders and their subfolders, without the brackets around the list. */
function* jsonParts(
  presenter: FolderPresenter,
  siblings: readonly Folder[],
  inside: ReadonlyMap<string, readonly Folder[]>,
): Generator<string> {
  for (const [index, folder] of siblings.entries()) {
    const text = JSON.stringify(presenter.present(folder))
    const subFolders = inside.get(folder.folderId)
    const comma = index === 0 ? '' : ','
    if (!subFolders) yield comma + text
    else {
      yield `${comma}${text.slice(0, -1)},"subFolders":[`
      yield* jsonParts(presenter, subFolders, inside)
      yield ']}'
    }
  }
}
