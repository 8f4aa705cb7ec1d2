import { ApiError, type Folder, maxFolderDepth, type Operations } from '@plenum/protocol'
import type { Call, Handlers } from '../../calls/call.ts'
import { reply } from '../../calls/answers/reply.ts'
import { findFolderChains } from '../../store/documents/folder-tree.ts'
import type { Db } from '../../store/engine/db.ts'
import { chain, levelsBelow, remove } from '../../store/documents/folder-tree.ts'
import * as folders from '../../store/documents/folders.ts'
import { root } from '../../store/documents/folders.ts'
import * as organizations from '../../store/organizations.ts'
import { byId, outcomes, unique } from '../shared/batches.ts'
import { doesNotExist } from '../shared/does-not-exist.ts'
import { encodeFolders } from './json.ts'
import { AnswerSize, cursorOf, readInside, readList, readTree } from './reads.ts'

export const folderHandlers: Handlers<Operations['folders']> = {
  async add({ input, caller, db, now, services: { lock, longReads } }) {
    const { apiKey } = caller
    const { organizationId } = input
    if (changesTree(input.folders)) await lockTree(lock, db, apiKey, organizationId)
    if (input.createOrganization) await organizations.ensure(db, apiKey, organizationId, now)
    else if (!(await organizations.exists(db, apiKey, organizationId))) throw doesNotExist('Organization')
    const items = byId(input.folders, (item) => item.folderId)
    const parents = unique([...items.values()].map((item) => item.parentFolderId ?? root))
    const { pause } = longReads.open(caller)
    const ids = unique([...items.keys(), ...parents])
    const tree = await findFolderChains(db, apiKey, organizationId, ids, pause)

    const added = []
    const failures = new Map<string, string>()
    for (const [folderId, { folderName = folderId, parentFolderId = root, accessType = null }] of items) {
      if (tree.has(folderId)) failures.set(folderId, 'Folder already exists.')
      else if (parentFolderId !== root && !tree.has(parentFolderId)) {
        failures.set(folderId, 'Parent folder does not exist.')
      } else if (chain(tree, parentFolderId).length >= maxFolderDepth) {
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

  async get({ input, caller, db, version, pages, abandoned, services: { longReads } }) {
    const { organizationId, folderId, maxDepth, pageSize, pageToken } = input
    const { apiKey } = caller
    const isNested = maxDepth !== undefined || input.rootFoldersOnly === true
    const page = pages.requested(
      { organizationId, folderId, isNested, maxDepth, pageSize, pageToken },
      Infinity,
    )
    const read = longReads.open(caller, abandoned)
    await read.enter()
    try {
      const folder = folderId === undefined ? undefined : await find(db, apiKey, organizationId, folderId)
      const source = { db, apiKey, organizationId, read }
      const size = new AnswerSize()
      const rows = await readList(source, folderId ?? (isNested ? root : undefined), page, size)
      const { items, nextPageToken } = pages.withNextToken(rows, page, cursorOf)
      const inside = await readInside(source, items, folder ? (maxDepth ?? 1) - 1 : (maxDepth ?? 0), size)
      if (folder && items.length > 0) inside.set(folder.folderId, items)
      const topFolders = folder ? [folder] : items
      const tree = await readTree(source, topFolders, inside)
      const data = await encodeFolders(source, caller, tree, topFolders, inside)
      const hasOwnMessage = version === 'v2' && (folder !== undefined || isNested)
      return reply(data as unknown as Folder[], {
        ...(hasOwnMessage && { message: 'Folder(s) retrieved successfully.' }),
        extra: { nextPageToken },
        onSent: () => read.close(),
      })
    } catch (error) {
      read.close()
      throw error
    } finally {
      read.leave()
    }
  },

  async update({ input, caller: { apiKey }, db, now, services: { lock } }) {
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

  delete: {
    scope: ({ organizationId, folderId }) => ({ organizationId, folderId }),
    async remove({ input: { organizationId, folderId }, caller: { apiKey }, db, signal }) {
      const documentIds = await remove(db, apiKey, organizationId, folderId)
      if (!documentIds) throw new ApiError('NOT_FOUND', 'Folder not found.')
      signal({ kind: 'gone', organizationId, documentIds })
      return null
    },
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

/** Whether a change puts folders into other folders. Folders at the top can neither be too deep nor form a cycle. */
const changesTree = (folders: readonly { parentFolderId?: string }[]) =>
  folders.some(({ parentFolderId = root }) => parentFolderId !== root)

/** Lets changes of the tree run one after the other. Two that are valid alone can together form a cycle or nest too deep. */
const lockTree = (lock: Call['services']['lock'], db: Db, apiKey: string, organizationId: string) =>
  lock(db, `folders/${apiKey}/${organizationId}`)

async function find(db: Db, apiKey: string, organizationId: string, folderId: string) {
  const folder = await folders.find(db, apiKey, organizationId, folderId)
  if (!folder) throw doesNotExist('Folder')
  return folder
}

const folderOutcomes = (ids: Iterable<string>, failures: ReadonlyMap<string, string>, done: string) =>
  outcomes(ids, (id) => ({ success: !failures.has(id), id, message: failures.get(id) ?? done }))

/** Returns why the folder cannot be changed or moved into the new parent, or undefined if it can. */
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
  return levels > maxFolderDepth ? 'Folder nesting is too deep.' : undefined
}
