import { ApiError, type CrdtData, type Operations, type VersionUser } from '@plenum/protocol'
import { newId } from '../access/ids.ts'
import { sourceOf } from '../crdt/document-threads.ts'
import * as editorLog from '../store/editors/log.ts'
import { type Call, type Handlers, Stale } from '../calls/call.ts'
import * as versions from '../store/editors/versions.ts'
import * as editors from '../store/editors/editors.ts'
import type { EditorRef } from '../store/refs.ts'
import * as users from '../store/users/users.ts'
import { EncodedJson } from '../calls/answers/encoded-json.ts'
import { page, type Window } from './shared/paging.ts'
import {
  assertFits,
  onStored,
  editorRefOf,
  type PreparedChange,
  read,
  snapshotFrom,
  subjectOf,
  write,
} from './shared/stored-editors.ts'

/** Each version contains the whole editor. Clients have a lower limit, so that they cannot use up the limit of backends. */
const maxVersionsPerEditor = { total: 1000, whenClientsAdd: 500 }

export const crdtVersionHandlers: Handlers<Operations['crdtVersions']> = {
  add: {
    subject: subjectOf,
    async prepare(call): Promise<PreparedVersion> {
      const {
        input,
        caller,
        log,
        services: { storedDocuments },
      } = call
      const stored = await read(call)
      await checkVersionLimit(call)
      const source = sourceOf(caller.apiKey, input, stored)
      const { type, contentKey, snapshot } = await onStored(input, log, () =>
        storedDocuments.capture(source, editorLog.partsOf(stored), stored),
      )
      return { type, contentKey, bytes: snapshot, editorCreatedAt: stored.createdAt }
    },
    async write(call, { type, contentKey, bytes, editorCreatedAt }: PreparedVersion) {
      const {
        input,
        caller,
        db,
        now,
        signal,
        services: { lock },
      } = call
      await lock(db, `editor-versions/${caller.apiKey}/${subjectOf(call)}`)
      if (!(await editors.exists(db, caller.apiKey, input, editorCreatedAt))) throw new Stale()
      await checkVersionLimit(call)
      const createdBy = await authorOf(call)
      const name = input.name.trim()
      const version = { versionId: newId('ver'), name, type, createdAt: now, ...(createdBy && { createdBy }) }
      await versions.add(db, caller.apiKey, input, { ...version, contentKey, bytes })
      signal({ kind: 'versionAdded', ...editorRefOf(input), version })
      return version
    },
  },

  async get(call) {
    const {
      input,
      caller,
      db,
      log,
      services: { storedDocuments },
    } = call
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
    return [{ ...version, data: new EncodedJson(json) as unknown as CrdtData }]
  },

  restore: {
    subject: subjectOf,
    async prepare(call): Promise<PreparedRestore> {
      const { input, caller, db, log, services } = call
      const stored = await read(call)
      const found = await versions.find(db, caller.apiKey, input, input.versionId)
      if (!found) throw new ApiError('NOT_FOUND', 'Version not found.')
      const { bytes, contentKey: _, ...version } = found
      const source = sourceOf(caller.apiKey, input, stored)
      const change = await onStored(input, log, () =>
        services.storedDocuments.restore(
          source,
          editorLog.partsOf(stored),
          bytes,
          snapshotFrom(services, stored),
        ),
      )
      assertFits(services, change, stored)
      return { stored, change, contents: stored, version }
    },
    async write(call, prepared: PreparedRestore) {
      await write(call, prepared)
      const { input, user: restoredBy, signal } = call
      signal({ kind: 'versionRestored', ...editorRefOf(input), version: prepared.version, restoredBy })
      return null
    },
  },
}

interface PreparedVersion extends Pick<versions.StoredVersion, 'type' | 'contentKey' | 'bytes'> {
  /** Identifies the editor: another one may be created under the same id after this one was deleted. */
  editorCreatedAt: number
}

interface PreparedRestore extends PreparedChange {
  version: versions.EditorVersion
}

type VersionCall<Input> = Pick<Call, 'db' | 'user'> & { input: Input; caller: { apiKey: string } }

async function checkVersionLimit({ input, caller: { apiKey }, db, user }: VersionCall<EditorRef>) {
  const { total, whenClientsAdd } = maxVersionsPerEditor
  const found = await versions.count(db, apiKey, input)
  if (found >= total) {
    throw new ApiError('RESOURCE_EXHAUSTED', 'The editor has reached its maximum number of versions.')
  }
  if (user && found >= whenClientsAdd) {
    const message = `The editor has ${found} versions. Users can add versions up to ${whenClientsAdd}, backends up to ${total}.`
    throw new ApiError('RESOURCE_EXHAUSTED', message)
  }
}

/** The author of a new version: the user of the client on the socket, else the user whom the backend names. */
async function authorOf(call: VersionCall<{ userId?: string }>): Promise<VersionUser | undefined> {
  const { input, caller, db, user } = call
  if (user || input.userId === undefined) return user
  const { userId } = input
  return versions.authorOf(userId, (await users.findMany(db, caller.apiKey, [userId])).get(userId)?.name)
}
