import { ApiError, folderDepth, type Operations } from '@plenum/protocol'
import { type Call, type Handlers, reply } from '../handler.ts'
import { findFolderChains } from '../store/access.ts'
import type { Db } from '../store/db.ts'
import { chain, levelsBelow, remove, treeOf } from '../store/folder-tree.ts'
import * as folders from '../store/folders.ts'
import { root } from '../store/folders.ts'
import * as organizations from '../store/organizations.ts'
import { byId, outcomes, unique } from './batches.ts'
import { nest, present } from './folder-views.ts'

/** All folders at once, as long as they are not more than this (spec 0.5). */
const everything = 10_000

export const folderHandlers: Handlers<Operations['folders']> = {
  async add({ input, caller: { apiKey }, db, now, lock }) {
    const { organizationId } = input
    if (changesTree(input.folders)) await lockTree(lock, db, apiKey, organizationId)
    if (input.createOrganization) await organizations.ensure(db, apiKey, organizationId, now)
    else if (!(await organizations.exists(db, apiKey, organizationId))) {
      throw new ApiError('INVALID_ARGUMENT', 'Organization does not exist.')
    }
    const items = byId(input.folders, (item) => item.folderId)
    const parents = unique([...items.values()].map((item) => item.parentFolderId ?? root))
    const tree = await findFolderChains(db, apiKey, organizationId, unique([...items.keys(), ...parents]))

    const added = []
    const failures = new Map<string, string>()
    for (const [folderId, { folderName = folderId, parentFolderId = root, accessType = null }] of items) {
      if (tree.has(folderId)) failures.set(folderId, 'Folder already exists.')
      else if (parentFolderId !== root && !tree.has(parentFolderId)) {
        failures.set(folderId, 'Parent folder does not exist.')
      } else if (chain(tree, parentFolderId).length >= folderDepth) {
        failures.set(folderId, 'Folder nesting is too deep.')
      } else {
        const folder = { folderId, folderName, parentFolderId, accessType }
        tree.set(folderId, folder)
        added.push(folder)
      }
    }
    await folders.add(db, apiKey, organizationId, added, now)
    return folderOutcomes(items.keys(), failures, 'Folder added.')
  },

  async get({ input, caller, db, version, pages }) {
    const { organizationId, folderId } = input
    const { maxDepth, rootFoldersOnly, pageSize, pageToken }: Partial<typeof input> =
      version === 'v1' ? {} : input
    const { apiKey } = caller
    const message = version === 'v1' ? 'Folders retrieved successfully.' : 'Folder(s) retrieved successfully.'

    if (folderId !== undefined) {
      const folder = await folders.find(db, apiKey, organizationId, folderId)
      if (!folder) throw new ApiError('INVALID_ARGUMENT', 'Folder does not exist.')
      return reply(await nest(db, caller, organizationId, [folder], maxDepth ?? 1), { message })
    }

    const nested = maxDepth !== undefined || rootFoldersOnly === true
    const asked = pages.open(
      { organizationId, nested, maxDepth, pageSize, pageToken },
      nested ? undefined : everything,
    )
    const rows = await folders.list(db, apiKey, organizationId, {
      topLevel: nested,
      limit: asked.size + 1,
      after: asked.after,
    })
    const { items, nextPageToken } = pages.close(rows, asked, ({ createdAt, folderId }) => [
      createdAt,
      folderId,
    ])
    const extra = version === 'v1' ? {} : { nextPageToken }
    if (nested) {
      return reply(await nest(db, caller, organizationId, items, maxDepth ?? 0), { message, extra })
    }
    const tree = await treeOf(db, apiKey, organizationId, items)
    return reply(
      items.map((folder) => present(caller, organizationId, tree, folder)),
      { extra },
    )
  },

  async update({ input, caller: { apiKey }, db, now, lock }) {
    const { organizationId } = input
    const items = byId(input.folders, (item) => item.folderId)
    if (changesTree(input.folders)) await lockTree(lock, db, apiKey, organizationId)
    const failures = new Map<string, string>()
    for (const [folderId, item] of items) {
      const failure = await findFault(db, apiKey, organizationId, folderId, item.parentFolderId)
      if (failure !== undefined) failures.set(folderId, failure)
      else await folders.update(db, apiKey, organizationId, folderId, item, now)
    }
    return folderOutcomes(items.keys(), failures, 'Folder Updated.')
  },

  async delete({ input: { organizationId, folderId }, caller: { apiKey }, db, emit }) {
    const documentIds = await remove(db, apiKey, organizationId, folderId)
    if (!documentIds) throw new ApiError('NOT_FOUND', 'Folder not found.')
    emit({ kind: 'gone', organizationId, documentIds })
    return null
  },

  async updateAccess({ input, caller, db, now }) {
    const inherit = input.inheritFromParent === true
    const accessType = inherit ? null : input.accessType
    if (accessType === undefined) throw new ApiError('INVALID_ARGUMENT', 'accessType is required.')
    const ids = unique(input.folderIds)
    const updated = await folders.setAccessType(db, caller.apiKey, input.organizationId, ids, accessType, now)
    const message = 'Folder access type updated.'
    const done = { success: true, accessType, ...(inherit && { inheritFromParent: true }), message }
    const data = Object.fromEntries(
      ids.map((id) => [id, updated.has(id) ? done : { success: false, message: 'Folder does not exist.' }]),
    )
    return inherit ? reply(data, { message }) : data
  },
}

/** Whether folders are put into others; what is at the top can neither be too deep nor make a circle. */
const changesTree = (folders: readonly { parentFolderId?: string }[]) =>
  folders.some(({ parentFolderId = root }) => parentFolderId !== root)

/** One change of a tree after the other: two that are harmless alone can make a circle, or be too deep, together. */
const lockTree = (lock: Call['lock'], db: Db, apiKey: string, organizationId: string) =>
  lock(db, `folders/${apiKey}/${organizationId}`)

const folderOutcomes = (ids: Iterable<string>, failures: ReadonlyMap<string, string>, done: string) =>
  outcomes(ids, (id) => ({ success: !failures.has(id), id, message: failures.get(id) ?? done }))

/** Why the folder cannot be changed or cannot go there. */
async function findFault(
  db: Db,
  apiKey: string,
  organizationId: string,
  folderId: string,
  newParentId: string | undefined,
): Promise<string | undefined> {
  const folder = await folders.find(db, apiKey, organizationId, folderId)
  if (!folder) return 'Folder does not exist.'
  if (newParentId === undefined || newParentId === folder.parentFolderId || newParentId === root)
    return undefined
  const tree = await findFolderChains(db, apiKey, organizationId, [newParentId])
  if (!tree.has(newParentId)) return 'Parent folder does not exist.'
  const above = chain(tree, newParentId)
  if (above.includes(folderId)) return 'Folder cannot be moved into itself.'
  const levels = above.length + 1 + (await levelsBelow(db, apiKey, organizationId, folderId))
  return levels > folderDepth ? 'Folder nesting is too deep.' : undefined
}
