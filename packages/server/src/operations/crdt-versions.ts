import { ApiError, type CrdtData, type Operations } from '@plenum/protocol'
import { newId } from '../access/ids.ts'
import type { Call, Handlers } from '../handler.ts'
import * as versions from '../store/editor-versions.ts'
import type { Place } from '../store/editors.ts'
import { WrittenJson } from '../written-json.ts'
import { page } from './paging.ts'
import { hold, onStored, partsOf, read, snapshotFrom, write } from './stored-editors.ts'

/** Each holds the whole document. */
const versionsPerEditor = 1000

export const crdtVersionHandlers: Handlers<Operations['crdtVersions']> = {
  async add(call) {
    const { input, caller, db, now, log, storedDocuments } = call
    const stored = await read(call)
    await refuseTooMany(call)
    const { type, contentKey, snapshot } = await onStored(input, log, () =>
      storedDocuments.capture(partsOf(stored), stored),
    )
    const version = { versionId: newId('ver'), name: input.name.trim(), type, createdAt: now }
    await versions.add(db, caller.apiKey, input, { ...version, contentKey, bytes: snapshot })
    return version
  },

  async get({ input, caller: { apiKey }, db, pages, log, storedDocuments }) {
    const { versionId } = input
    if (versionId === undefined) {
      return page(
        pages,
        input,
        (window) => versions.list(db, apiKey, input, window),
        ({ createdAt, versionId }) => [createdAt, versionId],
      )
    }
    const found = await versions.find(db, apiKey, input, versionId)
    if (!found) return []
    const { bytes, contentKey, ...version } = found
    const json = await onStored({ versionId }, log, () =>
      storedDocuments.render([bytes], { type: version.type, contentKey }),
    )
    return [{ ...version, data: new WrittenJson(json) as unknown as CrdtData }]
  },

  async restore(call) {
    const { input, caller, db, log, storedDocuments } = call
    const stored = await hold(call)
    const version = await versions.find(db, caller.apiKey, input, input.versionId)
    if (!version) throw new ApiError('NOT_FOUND', 'Version not found.')
    const change = await onStored(input, log, () =>
      storedDocuments.restore(partsOf(stored), version.bytes, snapshotFrom(stored)),
    )
    await write(call, stored, change, stored)
    return null
  },
}

async function refuseTooMany({
  input,
  caller: { apiKey },
  db,
  lock,
}: Pick<Call, 'db' | 'lock'> & { input: Place; caller: { apiKey: string } }) {
  const { organizationId, documentId, editorId } = input
  await lock(db, `editor-versions/${apiKey}/${organizationId}/${documentId}/${editorId}`)
  if ((await versions.count(db, apiKey, input)) >= versionsPerEditor) {
    throw new ApiError('RESOURCE_EXHAUSTED', 'The editor has reached its maximum number of versions.')
  }
}
