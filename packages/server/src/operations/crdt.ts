import { setImmediate } from 'node:timers/promises'
import { ApiError, type CrdtData, type CrdtRecord, type Operations } from '@plenum/protocol'
import * as content from '../editors/content.ts'
import { XmlError } from '../editors/xml.ts'
import type { Call, Handlers } from '../handler.ts'
import type { Db } from '../store/db.ts'
import * as documents from '../store/documents.ts'
import * as editorLog from '../store/editor-log.ts'
import type { StoredLog } from '../store/editor-log.ts'
import * as editors from '../store/editors.ts'
import type { ContentType, Place } from '../store/editors.ts'

const writer = { userId: 'rest-api', sessionId: null }

/** One answer is built in memory: a document may hold more than that, an editor never does. */
const answerBytes = 64 * 1024 * 1024
const answerEditors = 10_000

type Document = ReturnType<typeof content.load>

export const crdtHandlers: Handlers<Operations['crdt']> = {
  async add({ input, caller: { apiKey }, db, now, emit }) {
    const { type, contentKey = 'content', data } = input
    const update = replace(content.load([]), type, contentKey, data)
    await documents.ensure(db, apiKey, input.organizationId, input.documentId, now)
    if (!(await editors.add(db, apiKey, input, { type, contentKey }, writer, now))) {
      throw new ApiError('ALREADY_EXISTS', 'CRDT data already exists for this editor ID.')
    }
    if (update !== null) await append(db, apiKey, input, update, now)
    emit({ kind: 'editor', ...placeOf(input) })
    return null
  },

  async get({ input, caller: { apiKey }, db, log, render }) {
    const { editorId } = input
    const ids =
      editorId === undefined ? await editors.listIds(db, apiKey, input, answerEditors + 1) : [editorId]
    if (ids.length > answerEditors) throw tooLarge()
    const records: CrdtRecord[] = []
    const damagedIds: string[] = []
    let bytes = 0
    for (const editorId of ids) {
      // Each takes time on the one thread there is; others come in between.
      if (bytes > 0) await setImmediate()
      const stored = await editorLog.read(db, apiKey, { ...input, editorId })
      if (!stored) continue
      bytes += (stored.snapshot?.length ?? 0) + bytesOf(stored.updates)
      if (bytes > answerBytes && ids.length > 1) throw tooLarge()
      try {
        const { type, contentKey } = stored
        const data = (await render(logOf(stored), { type, contentKey })) as CrdtData
        records.push(present(editorId, stored, data))
      } catch (error) {
        // One that is damaged must not keep others from being read.
        log.error({ err: error, editorId }, unreadable)
        damagedIds.push(editorId)
      }
    }
    if (damagedIds.length > 0) throw damaged({ unreadableEditorIds: damagedIds, data: records })
    return records
  },

  async update({ input, caller: { apiKey }, db, now, log, emit }) {
    const { type, data } = input
    refuseWrongData(type, data)
    const stored = await editorLog.read(db, apiKey, input)
    if (!stored) throw new ApiError('NOT_FOUND', 'No CRDT data found for this editor ID.')
    const doc = open(input.editorId, stored, log)
    const contentKey = refuseOtherContents(input, stored, doc)
    const update = replace(doc, type, contentKey, data)
    await editors.touch(db, apiKey, input, { type, contentKey }, writer, now)
    if (update === null) return null
    const seq = await append(db, apiKey, input, update, now)
    emit({ kind: 'editor', ...placeOf(input) })
    const updates = [...stored.updates, { bytes: update }]
    const tail = { updates: updates.length, bytes: bytesOf(updates) }
    if (seq !== undefined && editorLog.isLong(tail, stored.snapshot?.length ?? 0)) {
      const { snapshotSeq } = stored
      await editorLog.compactIf(db, apiKey, input, { snapshotSeq, seq, snapshot: content.snapshot(doc) })
    }
    return null
  },
}

const placeOf = ({ organizationId, documentId, editorId }: Place): Place => ({
  organizationId,
  documentId,
  editorId,
})

const bytesOf = (updates: readonly { bytes: Uint8Array }[]) =>
  updates.reduce((sum, { bytes }) => sum + bytes.length, 0)

async function append(db: Db, apiKey: string, place: Place, update: Uint8Array, now: number) {
  const [seq] = await editorLog.append(db, [{ apiKey, place, update, writer, create: null, owners: [] }], now)
  return seq
}

function refuseWrongData(type: ContentType, data: CrdtData) {
  const error = content.typeError(type, data)
  if (error !== null) throw new ApiError('INVALID_ARGUMENT', error)
}

/** The name of the root that is written. Where nobody has said what the editor holds, the document shows it. */
function refuseOtherContents(
  sent: { type: ContentType; contentKey?: string },
  stored: StoredLog,
  doc: Document,
): string {
  const contentKey = stored.contentKey ?? content.inferRoots(doc).contentKey
  const type = stored.type ?? content.inferType(doc, contentKey ?? '')
  if (type !== null && sent.type !== type) {
    throw new ApiError('INVALID_ARGUMENT', 'Type does not match the stored data.')
  }
  if (contentKey !== null && sent.contentKey !== undefined && sent.contentKey !== contentKey) {
    throw new ApiError('INVALID_ARGUMENT', 'Content key does not match the stored data.')
  }
  return contentKey ?? sent.contentKey ?? 'content'
}

function replace(doc: Document, type: ContentType, contentKey: string, data: CrdtData): Uint8Array | null {
  refuseWrongData(type, data)
  try {
    return content.replace(doc, type, contentKey, data)
  } catch (error) {
    if (error instanceof XmlError) throw new ApiError('INVALID_ARGUMENT', error.message)
    throw error
  }
}

const unreadable = 'stored CRDT data cannot be read'

function open(editorId: string, stored: StoredLog, log: Call['log']): Document {
  try {
    return content.loadWhole(logOf(stored))
  } catch (error) {
    log.error({ err: error, editorId }, unreadable)
    throw damaged({ unreadableEditorIds: [editorId] })
  }
}

function logOf({ snapshot, updates, complete }: StoredLog): Uint8Array[] {
  if (!complete) throw new Error('Updates are missing from the log.')
  const tail = updates.map(({ bytes }) => bytes)
  return snapshot ? [snapshot, ...tail] : tail
}

const present = (id: string, stored: StoredLog, data: CrdtData): CrdtRecord => ({
  data,
  id,
  lastUpdate: new Date(stored.lastUpdated).toISOString(),
  lastUpdatedBy: stored.lastUpdatedBy,
  sessionId: stored.sessionId,
})

const damaged = (details: Record<string, unknown>) =>
  new ApiError('INTERNAL', 'The stored CRDT data cannot be read.', { details })

const tooLarge = () =>
  new ApiError(
    'INVALID_ARGUMENT',
    'The CRDT data of this document is too large for one answer. Read it by editorId.',
  )
