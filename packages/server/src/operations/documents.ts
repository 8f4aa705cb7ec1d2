import { ApiError, type Document, type Operations, type Outcome, type ApiVersion } from '@plenum/protocol'
import { internalDocumentId, newId } from '../access/ids.ts'
import type { Call, Handlers } from '../calls/call.ts'
import { partial } from '../calls/answers/reply.ts'
import { findFolderChains } from '../store/documents/folder-tree.ts'
import * as deletions from '../store/deletions.ts'
import * as migrations from '../store/documents/document-migrations.ts'
import * as documents from '../store/documents/documents.ts'
import * as folders from '../store/documents/folders.ts'
import { root } from '../store/documents/folders.ts'
import { withoutNulls } from './shared/without-nulls.ts'
import * as organizations from '../store/organizations.ts'
import { listDocuments } from './list-documents.ts'
import { byId, outcomes, unique } from './shared/batches.ts'
import { doesNotExist } from './shared/does-not-exist.ts'
import { accessTypeAt } from './shared/access-types.ts'
import { listAll, page, type Window, withPageToken } from './shared/paging.ts'

export const documentHandlers: Handlers<Operations['documents']> = {
  // It can change access, because clients may have the document open before it is stored: now it gets its access type.
  async add({ input, caller: { apiKey }, db, now, version }) {
    const { organizationId } = input
    if (input.createOrganization) await organizations.ensure(db, apiKey, organizationId, now)
    else if (!(await organizations.exists(db, apiKey, organizationId))) throw doesNotExist('Organization')
    const folderId = folderOf(input.folderId)
    if (folderId !== null) {
      if (input.createFolder) await folders.ensureAtTop(db, apiKey, organizationId, folderId, now)
      else if (!(await folders.exists(db, apiKey, organizationId, folderId))) throw doesNotExist('Folder')
    }
    const items = byId(input.documents, (item) => item.documentId)
    const added = await documents.add(
      db,
      apiKey,
      organizationId,
      [...items].map(([documentId, item]) => ({
        documentId,
        folderId,
        accessType: item.accessType ?? null,
        data: withoutNulls(metadata(item)),
      })),
      now,
    )
    const result = outcomes(items.keys(), (id) =>
      added.has(id)
        ? { success: true, id: internalDocumentId(apiKey, organizationId, id), message: 'Added Successfully' }
        : { success: false, id, message: 'Document already exists', code: 'already-exists' },
    )
    return answerOfBatch(version, result, 'Error adding document(s).')
  },

  list: listDocuments,

  async get(call) {
    const {
      input,
      caller,
      db,
      version,
      services: { longReads },
    } = call
    const { organizationId } = input
    const folderId = input.folderId === undefined ? undefined : folderOf(input.folderId)

    if (input.documentIds) {
      const ids = unique(input.documentIds)
      const read = () => documents.findMany(db, caller.apiKey, organizationId, ids)
      const stored = await longReads.query(caller.apiKey, read, ids.length)
      const inFolder = stored.filter((one) => folderId === undefined || one.folderId === folderId)
      const found = await present(call, organizationId, inFolder)
      if (version === 'v1' || found.length === ids.length) return found
      const details = ids.map((id) => found.find((one) => one.id === id) ?? notFoundOutcome(id))
      return partial(new ApiError('INTERNAL', 'Error retrieving document(s).', { details }))
    }

    const filter = version === 'v1' ? {} : { folderId }
    const list = {
      read: (window: Window) => documents.list(db, caller.apiKey, organizationId, { ...window, ...filter }),
      cursor: ({ createdAt, documentId }: documents.Document) => [createdAt, documentId],
    }
    const shown = (rows: readonly documents.Document[]) => present(call, organizationId, rows)
    return version === 'v1' ? listAll(call, list, shown) : withPageToken(await page(call, input, list, shown))
  },

  async update({ input, caller: { apiKey }, db, now, version }) {
    const { organizationId } = input
    const items = byId(input.documents, (item) => item.documentId)
    const changes = new Map(
      [...items].map(([id, item]) => [id, { accessType: item.accessType, keys: metadata(item) }]),
    )
    const updated = await documents.update(db, apiKey, organizationId, changes, now)
    const result = outcomes(items.keys(), (id) =>
      updated.has(id)
        ? {
            success: true,
            id: internalDocumentId(apiKey, organizationId, id),
            message: 'Updated Successfully',
          }
        : notFoundOutcome(id),
    )
    return answerOfBatch(version, result, 'Error updating document(s).')
  },

  delete: {
    scope: ({ organizationId, documentIds }) => ({ organizationId, documentIds: unique(documentIds) }),
    async remove({ input, caller: { apiKey }, db, version, signal }) {
      const { organizationId } = input
      const ids = unique(input.documentIds)
      const deleted = await documents.remove(db, apiKey, organizationId, ids)
      signal({ kind: 'gone', organizationId, documentIds: [...deleted] })
      const result = outcomes(ids, (id) =>
        deleted.has(id)
          ? {
              success: true,
              id: internalDocumentId(apiKey, organizationId, id),
              message: 'Deleted Successfully',
            }
          : notFoundOutcome(id),
      )
      return answerOfBatch(version, result, 'Error deleting document(s).')
    },
  },

  async move({ input, caller: { apiKey }, db, now }) {
    const { organizationId } = input
    const ids = unique(input.documentIds)
    const folderId = folderOf(input.folderId)
    if ((await documents.countExisting(db, apiKey, organizationId, ids)) < ids.length)
      throw doesNotExist('Document')
    if (folderId !== null && !(await folders.exists(db, apiKey, organizationId, folderId)))
      throw doesNotExist('Folder')
    await documents.set(db, apiKey, organizationId, ids, { folderId }, now)
    return null
  },

  async updateAccess({ input: { organizationId, documentIds, accessType }, caller: { apiKey }, db, now }) {
    const ids = unique(documentIds)
    const updated = await documents.set(db, apiKey, organizationId, ids, { accessType }, now)
    const done = { success: true, accessType, message: 'Document access type updated.' }
    return Object.fromEntries(ids.map((id) => [id, updated.has(id) ? done : notFound]))
  },

  async updateDisableState({
    input: { organizationId, documentIds, disabled },
    caller: { apiKey },
    db,
    now,
  }) {
    const ids = unique(documentIds)
    const updated = await documents.set(db, apiKey, organizationId, ids, { disabled }, now)
    const done = { success: true, disabled, message: 'Document disabled state updated.' }
    return Object.fromEntries(ids.map((id) => [id, updated.has(id) ? done : notFound]))
  },

  async migrate({ input, caller: { apiKey }, db, now, enqueue, services: { lock } }) {
    const { organizationId, documentId, newDocumentId } = input
    if (!(await documents.exists(db, apiKey, organizationId, documentId))) throw doesNotExist('Document')
    if (documentId === newDocumentId) {
      throw new ApiError('INVALID_ARGUMENT', 'newDocumentId must differ from documentId.')
    }
    for (const id of [documentId, newDocumentId].sort()) {
      await lock(db, `migrations/${apiKey}/${JSON.stringify([organizationId, id])}`)
    }
    if (await migrations.isRunning(db, apiKey, organizationId, [documentId, newDocumentId])) {
      throw new ApiError('FAILED_PRECONDITION', 'A migration for this document is already running.')
    }
    const migrationId = newId('mig')
    await migrations.add(db, apiKey, organizationId, { migrationId, documentId, newDocumentId }, now)
    await enqueue('document.migrate', { organizationId, migrationId })
    return { migrationId }
  },

  async migrateStatus({ input: { organizationId, migrationId }, caller: { apiKey }, db }) {
    const migration = await migrations.find(db, apiKey, organizationId, migrationId)
    if (!migration) throw doesNotExist('Migration')
    const { status, documentId, newDocumentId } = migration
    // The transaction that moves the document sets `completed`, but it leaves the rest of a large document to later steps.
    const isMoving =
      status === 'completed' &&
      (await deletions.isMoving(db, apiKey, { organizationId, documentId, newDocumentId }))
    return { migrationId, status: isMoving ? 'in_progress' : status }
  },
}

const notFound = { success: false, message: 'Document does not exist' }
const notFoundOutcome = (id: string): Outcome => ({ ...notFound, id, code: 'not-found' })

/** The folder id as it is stored: null for `root` and for no folder, which are the same (spec 10.5). */
const folderOf = (folderId: string | undefined) =>
  folderId === undefined || folderId === root ? null : folderId

/** `v2` answers a partly failed batch with an error, but commits the items that succeeded (spec 0.4 pattern B). */
const answerOfBatch = (version: ApiVersion, result: Record<string, Outcome>, failure: string) =>
  version === 'v1' || Object.values(result).every((one) => one.success)
    ? result
    : partial(new ApiError('INTERNAL', failure, { details: result }))

/** The fields of a document that the interface defines. All others are metadata (spec 22.4). */
const reserved = new Set([
  'documentId',
  'id',
  'organizationId',
  'folderId',
  'accessType',
  'disabled',
  'locations',
  'createdAt',
  'lastUpdated',
])

const metadata = (document: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(document).filter(([key]) => !reserved.has(key)))

/** The documents as callers read them. */
async function present(
  { db, caller, abandoned, services: { longReads } }: Call<Operations['documents']['get']>,
  organizationId: string,
  stored: readonly documents.Document[],
): Promise<Document[]> {
  const folderIds = unique(stored.flatMap(({ folderId }) => folderId ?? []))
  const { pause } = longReads.open(caller, abandoned)
  const tree = await findFolderChains(db, caller.apiKey, organizationId, folderIds, pause)
  const shown: Document[] = []
  for (const { documentId, folderId, accessType, disabled, data, createdAt, lastUpdated } of stored) {
    await pause()
    const fields = {
      id: documentId,
      documentId,
      ...(folderId !== null && { folderId }),
      accessType: accessTypeAt(caller, tree, folderId ?? root, accessType),
      disabled,
      createdAt,
      lastUpdated,
    }
    // `data` is changed, not copied: copying many keys would take longer than reading them.
    shown.push(Object.assign(data, fields))
  }
  return shown
}
