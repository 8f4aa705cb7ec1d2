import { setImmediate } from 'node:timers/promises'
import { ApiError, type CrdtData, type CrdtRecord, type Operations } from '@plenum/protocol'
import * as content from '../editors/content.ts'
import { XmlError } from '../editors/xml.ts'
import type { Handlers } from '../handler.ts'
import * as documents from '../store/documents.ts'
import * as editorLog from '../store/editor-log.ts'
import type { StoredLog } from '../store/editor-log.ts'
import * as editors from '../store/editors.ts'
import type { ContentType } from '../store/editors.ts'
import {
  append,
  bytesOf,
  damaged,
  type Document,
  logOf,
  open,
  tellDamage,
  tellOpenEditors,
  write,
  writer,
} from './stored-editors.ts'

/** One answer is built in memory: a document may hold more than that, an editor never does. */
const answerBytes = 64 * 1024 * 1024
const answerEditors = 10_000

export const crdtHandlers: Handlers<Operations['crdt']> = {
  async add({ input, caller: { apiKey }, db, now, emit }) {
    const { type, contentKey = 'content', data } = input
    const update = replace(content.load([]), type, contentKey, data)
    await documents.ensure(db, apiKey, input.organizationId, input.documentId, now)
    if (!(await editors.add(db, apiKey, input, { type, contentKey }, writer, now))) {
      throw new ApiError('ALREADY_EXISTS', 'CRDT data already exists for this editor ID.')
    }
    if (update !== null) await append(db, apiKey, input, update, now)
    tellOpenEditors(emit, input)
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
        tellDamage(log, error, { editorId })
        damagedIds.push(editorId)
      }
    }
    if (damagedIds.length > 0) throw damaged({ unreadableEditorIds: damagedIds, data: records })
    return records
  },

  async update(call) {
    const { type, data } = call.input
    refuseWrongData(type, data)
    const { stored, doc } = await open(call)
    const contentKey = refuseOtherContents(call.input, stored, doc)
    await write(call, { stored, doc }, replace(doc, type, contentKey, data), { type, contentKey })
    return null
  },
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

const present = (id: string, stored: StoredLog, data: CrdtData): CrdtRecord => ({
  data,
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
