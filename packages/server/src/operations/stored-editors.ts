import { ApiError } from '@plenum/protocol'
import * as content from '../editors/content.ts'
import type { Call } from '../handler.ts'
import * as editorLog from '../store/editor-log.ts'
import type { StoredLog } from '../store/editor-log.ts'
import * as editors from '../store/editors.ts'
import type { Contents, Place } from '../store/editors.ts'

/** What operations on an editor are given. */
type EditorCall = Pick<Call, 'db' | 'now' | 'log' | 'emit'> & { input: Place; caller: { apiKey: string } }

export type Document = ReturnType<typeof content.load>

/** The author of what comes over REST. */
export const writer = { userId: 'rest-api', sessionId: null }

/** A document with the log that it was loaded from. */
export async function open({ input, caller: { apiKey }, db, log }: EditorCall) {
  const stored = await editorLog.read(db, apiKey, input)
  if (!stored) throw new ApiError('NOT_FOUND', 'No CRDT data found for this editor ID.')
  try {
    return { stored, doc: content.loadWhole(logOf(stored)) }
  } catch (error) {
    tellDamage(log, error, { editorId: input.editorId })
    throw damaged({ unreadableEditorIds: [input.editorId] })
  }
}

export function logOf({ snapshot, updates, complete }: StoredLog): Uint8Array[] {
  if (!complete) throw new Error('Updates are missing from the log.')
  const tail = updates.map(({ bytes }) => bytes)
  return snapshot ? [snapshot, ...tail] : tail
}

/** Appends what has changed in a document since it was opened; null is nothing, but somebody wrote all the same. */
export async function write(
  { input, caller: { apiKey }, db, now, emit }: EditorCall,
  { stored, doc }: { stored: StoredLog; doc: Document },
  update: Uint8Array | null,
  contents: Contents,
): Promise<void> {
  await editors.touch(db, apiKey, input, contents, writer, now)
  if (update === null) return
  const seq = await append(db, apiKey, input, update, now)
  tellOpenEditors(emit, input)
  const updates = [...stored.updates, { bytes: update }]
  const tail = { updates: updates.length, bytes: bytesOf(updates) }
  if (seq !== undefined && editorLog.isLong(tail, stored.snapshot?.length ?? 0)) {
    const { snapshotSeq } = stored
    await editorLog.compactIf(db, apiKey, input, { snapshotSeq, seq, snapshot: content.snapshot(doc) })
  }
}

export async function append(
  db: Call['db'],
  apiKey: string,
  place: Place,
  update: Uint8Array,
  now: number,
): Promise<number | undefined> {
  const [seq] = await editorLog.append(db, [{ apiKey, place, update, writer, create: null, owners: [] }], now)
  return seq
}

export const tellOpenEditors = (emit: Call['emit'], { organizationId, documentId, editorId }: Place) =>
  emit({ kind: 'editor', organizationId, documentId, editorId })

export const bytesOf = (updates: readonly { bytes: Uint8Array }[]) =>
  updates.reduce((sum, { bytes }) => sum + bytes.length, 0)

export const tellDamage = (log: Call['log'], error: unknown, where: Record<string, string>) =>
  log.error({ err: error, ...where }, 'stored CRDT data cannot be read')

export const damaged = (details: Record<string, unknown>) =>
  new ApiError('INTERNAL', 'The stored CRDT data cannot be read.', { details })
