import { setImmediate } from 'node:timers/promises'
import { ApiError, type CrdtData, type CrdtRecord, type Operations } from '@plenum/protocol'
import * as content from '../editors/content.ts'
import { XmlError } from '../editors/xml.ts'
import type { Call, Handlers } from '../handler.ts'
import * as documents from '../store/documents.ts'
import * as editors from '../store/editors.ts'
import type { Editor } from '../store/editors.ts'

const writer = { userId: 'rest-api', sessionId: null }

/** One answer is built in memory: a document may hold more than that, an editor never does. */
const answerBytes = 64 * 1024 * 1024
const answerEditors = 10_000

type Document = ReturnType<typeof content.load>

export const crdtHandlers: Handlers<Operations['crdt']> = {
  async add({ input, caller: { apiKey }, db, now }) {
    const { type, contentKey = 'content', data } = input
    const update = replace(content.load([]), type, contentKey, data)
    await documents.ensure(db, apiKey, input.organizationId, input.documentId, now)
    if (!(await editors.add(db, apiKey, input, { type, contentKey, update }, writer, now))) {
      throw new ApiError('ALREADY_EXISTS', 'CRDT data already exists for this editor ID.')
    }
    return null
  },

  async get({ input, caller: { apiKey }, db, log }) {
    const { editorId } = input
    const ids =
      editorId === undefined ? await editors.listIds(db, apiKey, input, answerEditors + 1) : [editorId]
    if (ids.length > answerEditors) throw tooLarge()
    const records: CrdtRecord[] = []
    const unreadable: string[] = []
    let bytes = 0
    for (const editorId of ids) {
      // Each takes time on the one thread there is; others come in between.
      if (bytes > 0) await setImmediate()
      const editor = await editors.find(db, apiKey, { ...input, editorId })
      if (!editor) continue
      bytes += editor.log.reduce((sum, update) => sum + update.length, 0)
      if (bytes > answerBytes && ids.length > 1) throw tooLarge()
      const record = open(editor, log, (doc) => present(editor, doc))
      if (record) records.push(record)
      else unreadable.push(editorId)
    }
    if (unreadable.length > 0) throw damaged({ unreadableEditorIds: unreadable, data: records })
    return records
  },

  async update({ input, caller: { apiKey }, db, now, log }) {
    const { type, contentKey, data } = input
    refuseWrongData(type, data)
    const editor = await editors.find(db, apiKey, input)
    if (!editor) throw new ApiError('NOT_FOUND', 'No CRDT data found for this editor ID.')
    if (type !== editor.type) throw new ApiError('INVALID_ARGUMENT', 'Type does not match the stored data.')
    if (contentKey !== undefined && contentKey !== editor.contentKey) {
      throw new ApiError('INVALID_ARGUMENT', 'Content key does not match the stored data.')
    }
    const doc = open(editor, log, (doc) => doc)
    if (!doc) throw damaged({ unreadableEditorIds: [editor.editorId] })
    const update = replace(doc, type, editor.contentKey, data)
    const seq = update === null ? editor.seq : editor.seq + 1
    await editors.append(db, apiKey, input, { seq, update }, writer, now)
    const updates = editor.tail.updates + seq - editor.seq
    if (editors.isLong({ updates, bytes: editor.tail.bytes + (update?.length ?? 0) })) {
      await editors.compact(db, apiKey, input, { seq, snapshot: content.snapshot(doc) })
    }
    return null
  },
}

function refuseWrongData(type: Editor['type'], data: CrdtData) {
  const error = content.typeError(type, data)
  if (error !== null) throw new ApiError('INVALID_ARGUMENT', error)
}

function replace(doc: Document, type: Editor['type'], contentKey: string, data: CrdtData): Uint8Array | null {
  refuseWrongData(type, data)
  try {
    return content.replace(doc, type, contentKey, data)
  } catch (error) {
    if (error instanceof XmlError) throw new ApiError('INVALID_ARGUMENT', error.message)
    throw error
  }
}

/** Undefined when the log is damaged, which must not keep others from being read. */
function open<T>(editor: Editor, log: Call['log'], use: (doc: Document) => T): T | undefined {
  try {
    if (!editor.complete) throw new Error('Updates are missing from the log.')
    const doc = content.load(editor.log)
    // What waits for an update that is nowhere would be missing from the content.
    if (doc.store.pendingStructs || doc.store.pendingDs) throw new Error('Updates refer to missing ones.')
    return use(doc)
  } catch (error) {
    log.error({ err: error, editorId: editor.editorId }, 'stored CRDT data cannot be read')
    return undefined
  }
}

const present = (editor: Editor, doc: Document): CrdtRecord => ({
  data: content.read(doc, editor.type, editor.contentKey) as CrdtData,
  id: editor.editorId,
  lastUpdate: new Date(editor.lastUpdated).toISOString(),
  lastUpdatedBy: editor.lastUpdatedBy,
  sessionId: editor.sessionId,
})

const damaged = (details: Record<string, unknown>) =>
  new ApiError('INTERNAL', 'The stored CRDT data cannot be read.', { details })

const tooLarge = () =>
  new ApiError(
    'INVALID_ARGUMENT',
    'The CRDT data of this document is too large for one answer. Read it by editorId.',
  )
