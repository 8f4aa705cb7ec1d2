import { ensureDocument } from './shared/levels.ts'
import { setImmediate } from 'node:timers/promises'
import { ApiError, type CrdtData, type CrdtRecord, type Operations } from '@plenum/protocol'
import { newId } from '../access/ids.ts'
import { typeMismatch } from '../crdt/content/content.ts'
import { sourceOf } from '../crdt/document-threads.ts'
import type { Replacement } from '../crdt/stored-work.ts'
import type { Call, Handlers } from '../calls/call.ts'
import { partial } from '../calls/answers/reply.ts'
import { UnparsedJson } from '../calls/input/unparsed-json.ts'
import { beingDeleted } from '../store/deletions.ts'
import { isMovedAway } from '../store/documents/moved-away.ts'
import * as editorLog from '../store/editors/log.ts'
import type { StoredLog } from '../store/editors/log.ts'
import * as editors from '../store/editors/editors.ts'
import type { ContentType } from '../store/editors/editors.ts'
import { EncodedJson } from '../calls/answers/encoded-json.ts'
import {
  append,
  assertFits,
  bytesOf,
  damaged,
  failureOf,
  onStored,
  type PreparedChange,
  read,
  snapshotFrom,
  subjectOf,
  signalEditorChanged,
  tooSlow,
  write,
  writer,
} from './shared/stored-editors.ts'

/**
 * Limits for one answer, which is built in memory while the caller waits. They do not apply to an answer with a single
 * editor.
 */
const maxAnswer = { bytes: 64 * 1024 * 1024, editors: 10_000, ms: 30_000 }

const undeclared = { type: null, contentKey: null }

export const crdtHandlers: Handlers<Operations['crdt']> = {
  add: {
    subject: subjectOf,
    async prepare({ input, caller: { apiKey }, log, services }): Promise<PreparedContent> {
      const replacement = replacementOf(input)
      // A new id, because threads cache documents by their source, and this document is not stored yet.
      const source = { apiKey, content: newId('new') }
      const content = await onStored(input, log, () =>
        services.storedDocuments.replace(source, [], undeclared, [replacement], Infinity),
      )
      assertFits(services, content)
      return content
    },
    async write(call, { update, contentKey }: PreparedContent) {
      const { input, caller, db, now, signal } = call
      const { apiKey } = caller
      await ensureDocument(call, input)
      if (await isMovedAway(db, apiKey, input)) throw beingDeleted()
      if (!(await editors.add(db, apiKey, input, { type: input.type, contentKey }, writer, now))) {
        throw new ApiError('ALREADY_EXISTS', 'CRDT data already exists for this editor ID.')
      }
      if (update !== null) await append(call, update)
      signalEditorChanged(signal, input)
      return null
    },
  },

  async get({ input, caller: { apiKey }, db, log, services: { clock, storedDocuments } }) {
    const { editorId } = input
    const ids =
      editorId === undefined ? await editors.listIds(db, apiKey, input, maxAnswer.editors + 1) : [editorId]
    if (ids.length > maxAnswer.editors) throw tooLarge()
    const startedAt = clock.elapsed()
    const records: CrdtRecord[] = []
    const unreadable: { id: string; isSlow: boolean }[] = []
    let bytes = 0
    for (const id of ids) {
      // Small editors are rendered on the event loop. The pause lets other requests run between two editors.
      if (bytes > 0) await setImmediate()
      if (clock.elapsed() - startedAt > maxAnswer.ms) throw tooLong()
      const stored = await editorLog.read(db, apiKey, { ...input, editorId: id })
      if (!stored) continue
      bytes += (stored.snapshot?.length ?? 0) + bytesOf(stored.updates)
      if (bytes > maxAnswer.bytes && ids.length > 1) throw tooLarge()
      try {
        const source = sourceOf(apiKey, { ...input, editorId: id }, stored)
        const json = await storedDocuments.render(source, editorLog.partsOf(stored), stored)
        records.push(present(id, stored, json))
      } catch (error) {
        const failure = failureOf(error, { editorId: id }, log)
        if (failure.retryAfterSeconds !== undefined) throw failure
        // One unreadable editor must not make the others unreadable.
        unreadable.push({ id, isSlow: failure.status === 'DEADLINE_EXCEEDED' })
      }
    }
    if (unreadable.length === 0) return records
    const details = { unreadableEditorIds: unreadable.map(({ id }) => id), data: records }
    return partial(unreadable.every(({ isSlow }) => isSlow) ? tooSlow(details) : damaged(details), {
      isFault: true,
    })
  },

  update: {
    subject: subjectOf,
    prepare: (call) => prepareUpdates([call], call),
    // Backends that write one editor at the same time would otherwise read and build its document for each of their calls.
    prepareTogether: async (calls) =>
      isUniform(calls) ? prepareUpdates(calls, calls.at(-1) as UpdateCall) : undefined,
    async write(call, prepared: PreparedChange) {
      await write(call, prepared)
      return null
    },
  },
}

/** Whether all calls write the same root with the same type. Yjs lets nobody use a root with two types in one document. */
const isUniform = ([first, ...others]: readonly UpdateCall[]): boolean =>
  others.every(
    ({ input }) => input.type === first?.input.type && input.contentKey === first?.input.contentKey,
  )

type UpdateCall = Call<Operations['crdt']['update']>

/** Computes what the calls change, one after the other. `last` is the last of them. */
async function prepareUpdates(calls: readonly UpdateCall[], last: UpdateCall): Promise<PreparedChange> {
  const { input, caller, log, services } = last
  const replacements = calls.map((call) => replacementOf(call.input))
  const stored = await read(last)
  const source = sourceOf(caller.apiKey, input, stored)
  const { contentKey, ...change } = await onStored(input, log, () =>
    services.storedDocuments.replace(
      source,
      editorLog.partsOf(stored),
      stored,
      replacements,
      snapshotFrom(services, stored),
    ),
  )
  assertFits(services, change, stored)
  return { stored, change, contents: { type: input.type, contentKey } }
}

/** The first content of an editor. */
interface PreparedContent {
  update: Uint8Array | null
  contentKey: string
}

function replacementOf({ type, contentKey, data }: Sent): Replacement {
  const error = typeMismatch(type, data instanceof UnparsedJson ? data.sample : data)
  if (error !== null) throw new ApiError('INVALID_ARGUMENT', error)
  // Copies the bytes: to post a view to a thread would send the whole body.
  if (data instanceof UnparsedJson) return { type, contentKey, json: Uint8Array.from(data.bytes) }
  return { type, contentKey, text: typeof data === 'string' ? data : JSON.stringify(data) }
}

interface Sent {
  type: ContentType
  contentKey?: string
  data: CrdtData | UnparsedJson
}

const present = (id: string, stored: StoredLog, json: Uint8Array): CrdtRecord => ({
  data: new EncodedJson(json) as unknown as CrdtData,
  id,
  lastUpdate: new Date(stored.lastUpdated).toISOString(),
  lastUpdatedBy: stored.lastUpdatedBy,
  sessionId: stored.sessionId,
})

const tooLarge = () =>
  new ApiError(
    'INVALID_ARGUMENT',
    'The CRDT data of this document is too large for one answer. Read it by editorId.',
  )

const tooLong = () =>
  new ApiError(
    'DEADLINE_EXCEEDED',
    'The CRDT data of this document takes too long for one answer. Read it by editorId.',
  )
