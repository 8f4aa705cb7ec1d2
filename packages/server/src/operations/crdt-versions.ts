import { ApiError, type CrdtData, type Operations } from '@plenum/protocol'
import { newId } from '../access/ids.ts'
import * as content from '../editors/content.ts'
import { contentsOf } from '../editors/render.ts'
import { restore } from '../editors/restore.ts'
import type { Call, Handlers } from '../handler.ts'
import * as versions from '../store/editor-versions.ts'
import type { Place } from '../store/editors.ts'
import { page } from './paging.ts'
import { damaged, open, tellDamage, write } from './stored-editors.ts'

/** Each holds the whole document. */
const versionsPerEditor = 1000

export const crdtVersionHandlers: Handlers<Operations['crdtVersions']> = {
  async add(call) {
    const { input, caller, db, now } = call
    const { stored, doc } = await open(call)
    await refuseTooMany(call)
    const { type, contentKey } = contentsOf(doc, stored)
    const version = { versionId: newId('ver'), name: input.name.trim(), type, createdAt: now }
    const bytes = content.snapshot(doc)
    await versions.add(db, caller.apiKey, input, { ...version, contentKey, bytes })
    return version
  },

  async get({ input, caller: { apiKey }, db, pages, log, render }) {
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
    const data = await render([bytes], { type: version.type, contentKey }).catch((error: unknown) => {
      throw unreadable(log, error, versionId)
    })
    return [{ ...version, data: data as CrdtData }]
  },

  async restore(call) {
    const { input, caller, db, log } = call
    const { stored, doc } = await open(call)
    const version = await versions.find(db, caller.apiKey, input, input.versionId)
    if (!version) throw new ApiError('NOT_FOUND', 'Version not found.')
    const earlier = load(version, log)
    const { type, contentKey } = stored
    await write(call, { stored, doc }, restore(doc, earlier), { type, contentKey })
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

function load({ versionId, bytes }: versions.StoredVersion, log: Call['log']) {
  try {
    return content.loadWhole([bytes])
  } catch (error) {
    throw unreadable(log, error, versionId)
  }
}

function unreadable(log: Call['log'], error: unknown, versionId: string): ApiError {
  tellDamage(log, error, { versionId })
  return damaged({ unreadableVersionIds: [versionId] })
}
