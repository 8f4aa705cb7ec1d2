import { ApiError } from '@plenum/protocol'
import type { LongRead } from '../../calls/call.ts'
import { findFolderChains } from '../../store/access/access.ts'
import type { Cursor, Db } from '../../store/engine/db.ts'
import type { FolderTree } from '../../store/documents/folder-tree.ts'
import * as folders from '../../store/documents/folders.ts'
import { type Folder, root } from '../../store/documents/folders.ts'

/** Folders of one answer (spec 9.2). */
const maxFolders = 100_000
/** Bytes of one answer. A page of 1,000 folders with the longest ids and names, 32 levels deep, has 33 MB. */
export const maxAnswerBytes = 64 * 1024 * 1024

export const tooLarge = () =>
  new ApiError(
    'INVALID_ARGUMENT',
    'The answer would have more than 100,000 folders or 64 MiB. Read it in parts with pageSize or maxDepth, under v2.',
  )

/** Rows of one query. On SQLite, where they hold the event loop, the longest rows take 0.25 ms each. */
const rowsAtOnce = 64
/** An answer with more waits for others of its key. */
const largeFolders = 1000

/** Where folders are read, a slice at a time. */
export interface Place {
  db: Db
  apiKey: string
  organizationId: string
  read: LongRead
}

/** Counts what an answer will hold while it is read, and refuses what is too much. */
export class AnswerSize {
  #folders = 0
  #characters = 0

  get isLarge(): boolean {
    return this.#folders > largeFolders
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

/** All folders, or those directly inside one: a page and the first row behind it. */
export async function readList(
  { db, apiKey, organizationId, read }: Place,
  parentFolderId: string | undefined,
  page: { size: number; after: Cursor | undefined },
  size: AnswerSize,
): Promise<Folder[]> {
  const found: Folder[] = []
  for (let after = page.after; ;) {
    const limit = Math.min(rowsAtOnce, page.size + 1 - found.length)
    const rows = await folders.list(db, apiKey, organizationId, parentFolderId, { limit, after })
    size.add(rows)
    for (const row of rows) found.push(row)
    const last = rows.at(-1)
    if (!last || rows.length < limit || found.length > page.size) return found
    after = cursorOf(last)
    await read.next()
    if (size.isLarge) await read.becomeLarge()
  }
}

/** What is inside the folders, so many levels deep, by the folder it is in. */
export async function readInside(
  place: Place,
  outer: readonly Folder[],
  levels: number,
  size: AnswerSize,
): Promise<Map<string, readonly Folder[]>> {
  const inside = new Map<string, Folder[]>()
  if (levels === 0) return inside
  let level = outer.map(({ folderId }) => folderId)
  // A folder that is moved while this reads is taken where it was seen first.
  const seen = new Set(level)
  for (let depth = 0; depth < levels && level.length > 0; depth++) {
    const next: string[] = []
    for (let at = 0; at < level.length; at += rowsAtOnce) {
      for await (const rows of childrenOf(place, level.slice(at, at + rowsAtOnce))) {
        const unseen = rows.filter(({ folderId }) => !seen.has(folderId))
        size.add(unseen)
        for (const folder of unseen) {
          seen.add(folder.folderId)
          next.push(folder.folderId)
          const siblings = inside.get(folder.parentFolderId)
          if (siblings) siblings.push(folder)
          else inside.set(folder.parentFolderId, [folder])
        }
        if (place.read.isDue) await place.read.next()
        if (size.isLarge) await place.read.becomeLarge()
      }
    }
    level = next
  }
  return inside
}

/** What is directly inside the folders, in slices; siblings in their order. */
async function* childrenOf(place: Place, parents: readonly string[]): AsyncGenerator<Folder[]> {
  const { db, apiKey, organizationId, read } = place
  const rows = await folders.someChildren(db, apiKey, organizationId, parents, rowsAtOnce + 1)
  if (rows.length <= rowsAtOnce) {
    yield rows.sort((a, b) => a.createdAt - b.createdAt || (a.folderId < b.folderId ? -1 : 1))
    return
  }
  await read.next()
  if (parents.length > 1) {
    const half = parents.length >> 1
    yield* childrenOf(place, parents.slice(0, half))
    yield* childrenOf(place, parents.slice(half))
    return
  }
  for (let after: Cursor | undefined; ;) {
    const window = { limit: rowsAtOnce, after }
    const some = await folders.list(db, apiKey, organizationId, parents[0], window)
    yield some
    const last = some.at(-1)
    if (!last || some.length < rowsAtOnce) return
    after = cursorOf(last)
    await read.next()
  }
}

/** The folders, what is inside them, and every folder above them. */
export async function readTree(
  { db, apiKey, organizationId, read }: Place,
  tops: readonly Folder[],
  inside: ReadonlyMap<string, readonly Folder[]>,
): Promise<FolderTree> {
  const tree: FolderTree = new Map()
  const above = new Set<string>()
  for (const siblings of [tops, ...inside.values()]) {
    for (const folder of siblings) {
      tree.set(folder.folderId, folder)
      above.add(folder.parentFolderId)
      if (tree.size % 100 === 0 && read.isDue) await read.next()
    }
  }
  const unread = [...above].filter((id) => id !== root && !tree.has(id))
  const chains = await findFolderChains(db, apiKey, organizationId, unread, read.pause)
  for (const [id, folder] of chains) tree.set(id, folder)
  return tree
}
