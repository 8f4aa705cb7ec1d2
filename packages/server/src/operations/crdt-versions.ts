import { ApiError, type CrdtData, type Operations } from '@plenum/protocol'
import { newId } from '../access/ids.ts'
import { sourceOf } from '../editors/document-threads.ts'
import { type Call, type Handlers, Stale } from '../handler.ts'
import * as versions from '../store/editor-versions.ts'
import * as editors from '../store/editors.ts'
import type { Place } from '../store/editors.ts'
import { WrittenJson } from '../written-json.ts'
import { page, type Window } from './paging.ts'
import {
  assertFits,
  onStored,
  partsOf,
  type PreparedChange,
  read,
  snapshotFrom,
  subjectOf,
  write,
} from './stored-editors.ts'

/** Each holds the whole document. */
const versionsPerEditor = 1000

export const crdtVersionHandlers: Handlers<Operations['crdtVersions']> = {
  add: {
    subject: subjectOf,
    async prepare(call): Promise<PreparedVersion> {
      const { input, caller, log, storedDocuments } = call
      const stored = await read(call)
      await refuseTooMany(call)
      const source = sourceOf(caller.apiKey, input, stored)
      const { type, contentKey, snapshot } = await onStored(input, log, () =>
        storedDocuments.capture(source, partsOf(stored), stored),
      )
      return { type, contentKey, bytes: snapshot, editorCreatedAt: stored.createdAt }
    },
    async write(call, { type, contentKey, bytes, editorCreatedAt }: PreparedVersion) {
      const { input, caller, db, now, lock } = call
      await lock(db, `editor-versions/${caller.apiKey}/${subjectOf(call)}`)
      if (!(await editors.exists(db, caller.apiKey, input, editorCreatedAt))) throw new Stale()
      await refuseTooMany(call)
      const version = { versionId: newId('ver'), name: input.name.trim(), type, createdAt: now }
      await versions.add(db, caller.apiKey, input, { ...version, contentKey, bytes })
      return version
    },
  },

  async get(call) {
    const { input, caller, db, log, storedDocuments } = call
    const { apiKey } = caller
    const { versionId } = input
    if (versionId === undefined) {
      const list = {
        read: (window: Window) => versions.list(db, apiKey, input, window),
        cursor: ({ createdAt, versionId }: versions.EditorVersion) => [createdAt, versionId],
      }
      return page(call, input, list, (rows) => rows)
    }
    const found = await versions.find(db, apiKey, input, versionId)
    if (!found) return []
    const { bytes, contentKey, ...version } = found
    const source = { apiKey, content: versionId }
    const json = await onStored({ versionId }, log, () =>
      storedDocuments.render(source, [bytes], { type: version.type, contentKey }),
    )
    return [{ ...version, data: new WrittenJson(json) as unknown as CrdtData }]
  },

  restore: {
    subject: subjectOf,
    async prepare(call): Promise<PreparedChange> {
      const { input, caller, db, log, storedDocuments } = call
      const stored = await read(call)
      const version = await versions.find(db, caller.apiKey, input, input.versionId)
      if (!version) throw new ApiError('NOT_FOUND', 'Version not found.')
      const source = sourceOf(caller.apiKey, input, stored)
      const change = await onStored(input, log, () =>
        storedDocuments.restore(source, partsOf(stored), version.bytes, snapshotFrom(call, stored)),
      )
      assertFits(call, change, stored)
      return { stored, change, contents: stored }
    },
    async write(call, prepared: PreparedChange) {
      await write(call, prepared)
      return null
    },
  },
}

interface PreparedVersion extends Pick<versions.StoredVersion, 'type' | 'contentKey' | 'bytes'> {
  /** Tells the editor from one that is made under the same id after it was deleted. */
  editorCreatedAt: number
}

async function refuseTooMany({
  input,
  caller: { apiKey },
  db,
}: Pick<Call, 'db'> & { input: Place; caller: { apiKey: string } }) {
  if ((await versions.count(db, apiKey, input)) >= versionsPerEditor) {
    throw new ApiError('RESOURCE_EXHAUSTED', 'The editor has reached its maximum number of versions.')
  }
}
