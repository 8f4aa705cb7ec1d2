import { ApiError } from '@plenum/protocol'
import type { LongRead } from '../../platform/turns/long-reads.ts'
import type { Cursor, Db } from '../../store/engine/db.ts'
import { findFolderChains, type FolderTree } from '../../store/documents/folder-tree.ts'
import * as folders from '../../store/documents/folders.ts'
import { type Folder, root } from '../../store/documents/folders.ts'

/** The maximum number of folders in one answer (spec 9.2). */
const maxFolders = 100_000
/** The maximum size of one answer. A page of 1,000 folders with the longest ids and names, 32 levels deep, has 33 MB. */
export const maxAnswerBytes = 64 * 1024 * 1024

export const tooLarge = () =>
  new ApiError(
    'INVALID_ARGUMENT',
    'The answer would have more than 100,000 folders or 64 MiB. Read it in parts with pageSize or maxDepth, under v2.',
  )

/** Rows in one query. On SQLite a query blocks the event loop, for 0.25 ms per row if the rows have their maximum size. */
const maxRowsPerQuery = 64
/** A larger answer waits until few other large answers of the same API key are open. */
const maxSmallAnswerFolders = 1000

/** A read of an organization's folders, which runs in slices. */
export interface FolderRead {
  db: Db
  apiKey: string
  organizationId: string
  read: LongRead
}

/** Counts the folders and characters of an answer while it is read. Throws if the answer becomes too large. */
export class AnswerSize {
  #folders = 0
  #characters = 0

  get isLarge(): boolean {
    return this.#folders > maxSmallAnswerFolders
  }

  add(folders: readonly Folder[]): void {
    this.#folders += folders.length
    for (const { folderId, folderName, parentFolderId } of folders) {
      this.#characters += folderId.length + folderName.length + parentFolderId.length
    }
    if (this.#folders > maxFolders || this.#characters > maxAnswerBytes) throw tooLarge()
  }
}

export const cursorOf = ({ createdAt, folderId }: Folder): Cursor => [createdAt, folderId]

/**
 * Reads a page of all folders, or of those directly inside `parentFolderId`. Returns one row more if another page follows.
 */
export async function readList(
  { db, apiKey, organizationId, read }: FolderRead,
  parentFolderId: string | undefined,
  page: { size: number; after: Cursor | undefined },
  size: AnswerSize,
): Promise<Folder[]> {
  const found: Folder[] = []
  for (let after = page.after; ;) {
    const limit = Math.min(maxRowsPerQuery, page.size + 1 - found.length)
    const rows = await folders.list(db, apiKey, organizationId, parentFolderId, { limit, after })
    size.add(rows)
    for (const row of rows) found.push(row)
    const last = rows.at(-1)
    if (!last || rows.length < limit || found.length > page.size) return found
    after = cursorOf(last)
    await read.nextSlice()
    if (size.isLarge) await read.becomeLarge()
  }
}

/** Reads the subfolders, `levels` deep. Returns them by the id of their parent folder. */
export async function readInside(
  source: FolderRead,
  outer: readonly Folder[],
  levels: number,
  size: AnswerSize,
): Promise<Map<string, readonly Folder[]>> {
  const inside = new Map<string, Folder[]>()
  if (levels === 0) return inside
  let level = outer.map(({ folderId }) => folderId)
  // A folder that is moved during this read appears only where it was read first.
  const seen = new Set(level)
  for (let depth = 0; depth < levels && level.length > 0; depth++) {
    const next: string[] = []
    for (let at = 0; at < level.length; at += maxRowsPerQuery) {
      for await (const rows of childrenOf(source, level.slice(at, at + maxRowsPerQuery))) {
        const unseen = rows.filter(({ folderId }) => !seen.has(folderId))
        size.add(unseen)
        for (const folder of unseen) {
          seen.add(folder.folderId)
          next.push(folder.folderId)
          const siblings = inside.get(folder.parentFolderId)
          if (siblings) siblings.push(folder)
          else inside.set(folder.parentFolderId, [folder])
        }
        if (source.read.isSliceOver) await source.read.nextSlice()
        if (size.isLarge) await source.read.becomeLarge()
      }
    }
    level = next
  }
  return inside
}

/** Yields the direct subfolders of the parents, in slices. Siblings keep their order. */
async function* childrenOf(source: FolderRead, parents: readonly string[]): AsyncGenerator<Folder[]> {
  const { db, apiKey, organizationId, read } = source
  const rows = await folders.someChildren(db, apiKey, organizationId, parents, maxRowsPerQuery + 1)
  if (rows.length <= maxRowsPerQuery) {
    yield rows.sort((a, b) => a.createdAt - b.createdAt || (a.folderId < b.folderId ? -1 : 1))
    return
  }
  await read.nextSlice()
  if (parents.length > 1) {
    const half = parents.length >> 1
    yield* childrenOf(source, parents.slice(0, half))
    yield* childrenOf(source, parents.slice(half))
    return
  }
  for (let after: Cursor | undefined; ;) {
    const window = { limit: maxRowsPerQuery, after }
    const some = await folders.list(db, apiKey, organizationId, parents[0], window)
    yield some
    const last = some.at(-1)
    if (!last || some.length < maxRowsPerQuery) return
    after = cursorOf(last)
    await read.nextSlice()
  }
}

/** Collects the folders and their subfolders, and reads all their ancestors. */
export async function readTree(
  { db, apiKey, organizationId, read }: FolderRead,
  topFolders: readonly Folder[],
  inside: ReadonlyMap<string, readonly Folder[]>,
): Promise<FolderTree> {
  const tree: FolderTree = new Map()
  const above = new Set<string>()
  for (const siblings of [topFolders, ...inside.values()]) {
    for (const folder of siblings) {
      tree.set(folder.folderId, folder)
      above.add(folder.parentFolderId)
      if (tree.size % 100 === 0 && read.isSliceOver) await read.nextSlice()
    }
  }
  const unread = [...above].filter((id) => id !== root && !tree.has(id))
  const chains = await findFolderChains(db, apiKey, organizationId, unread, read.pause)
  for (const [id, folder] of chains) tree.set(id, folder)
  return tree
}
