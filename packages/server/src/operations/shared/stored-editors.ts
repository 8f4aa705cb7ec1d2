import { ApiError } from '@plenum/protocol'
import { backendUserIds } from '../../access/backend-users.ts'
import { sourceOf } from '../../crdt/document-threads.ts'
import { Busy, DamagedVersion, TooMuchWork, TooSlow, UnfitContent } from '../../crdt/content/errors.ts'
import type { Change } from '../../crdt/stored-work.ts'
import { type Call, Stale } from '../../calls/call.ts'
import * as editorLog from '../../store/editors/log.ts'
import type { StoredLog } from '../../store/editors/log.ts'
import * as editors from '../../store/editors/editors.ts'
import type { Contents } from '../../store/editors/editors.ts'
import type { EditorRef } from '../../store/refs.ts'

/** The part of a call that operations on an editor use. */
type EditorCall = Pick<Call, 'db' | 'now' | 'log' | 'signal' | 'afterCommit' | 'services' | 'user'> & {
  input: EditorRef
  caller: { apiKey: string }
}

/** The author of all REST writes. Their updates share one Yjs client id, so the log has one author for them. */
export const writer = { userId: backendUserIds.rest, sessionId: null }

/** Reads the log of an editor. Throws `NOT_FOUND` if there is none. */
export async function read({ input, caller: { apiKey }, db }: EditorCall): Promise<StoredLog> {
  const stored = await editorLog.read(db, apiKey, input)
  if (!stored) throw new ApiError('NOT_FOUND', 'No CRDT data found for this editor ID.')
  return stored
}

/** A Yjs update without changes. */
const emptyUpdate = Uint8Array.of(0, 0)

/** Reads the whole editor as one Yjs update. If the editor is not stored, the update is empty. */
export async function wholeUpdate(
  db: Call['db'],
  apiKey: string,
  ref: EditorRef,
  { storedDocuments, log }: { storedDocuments: Call['services']['storedDocuments']; log: Call['log'] },
): Promise<Uint8Array> {
  const stored = await editorLog.read(db, apiKey, ref)
  if (!stored) return emptyUpdate
  const source = sourceOf(apiKey, ref, stored)
  const capture = () => storedDocuments.capture(source, editorLog.partsOf(stored), stored)
  return (await onStored(ref, log, capture)).snapshot
}

/** The subject of a prepared write: calls that write the same editor run one after the other. */
export const subjectOf = ({ input: { organizationId, documentId, editorId } }: { input: EditorRef }) =>
  JSON.stringify([organizationId, documentId, editorId])

type EditorLimits = Pick<Call['services'], 'limits'>

/** An update of at least this many bytes needs a snapshot: to keep the log short, or to measure the new size of the editor. */
export function snapshotFrom({ limits }: EditorLimits, stored: StoredLog): number {
  const { snapshot, updates } = stored
  const tail = { updates: updates.length, bytes: bytesOf(updates) }
  const tooLargeFrom = limits.editorBytes - sizeOf(stored) + 1
  return Math.min(editorLog.bytesUntilSnapshot(tail, snapshot?.length ?? 0), tooLargeFrom)
}

const sizeOf = ({ snapshot, updates }: StoredLog) => (snapshot?.length ?? 0) + bytesOf(updates)

/** Throws if the change makes the editor larger than its limit. A change that makes it smaller is always accepted. */
export function assertFits({ limits }: EditorLimits, { update, snapshot }: Change, stored?: StoredLog): void {
  const before = stored ? sizeOf(stored) : 0
  const after = snapshot?.length ?? before + (update?.length ?? 0)
  if (after <= limits.editorBytes || after < before) return
  const message = `The editor may have at most ${limits.editorBytes} bytes (LIMIT_EDITOR_BYTES).`
  throw new ApiError('RESOURCE_EXHAUSTED', message)
}

/** A computed change of an editor, with the stored log from which it was computed. */
export interface PreparedChange {
  stored: StoredLog
  change: Change
  contents: Contents
}

/** Appends a prepared change to the log of an editor. Without an update it still stores who wrote the editor last, and when. */
export async function write(
  call: EditorCall,
  { stored, change: { update, snapshot }, contents }: PreparedChange,
): Promise<void> {
  const { input, caller, user, db, now, signal, afterCommit, services } = call
  const { apiKey } = caller
  if (!(await editorLog.canStillAppend(db, apiKey, input, stored, writer.userId))) throw new Stale()
  const appended = update === null ? undefined : await append(call, update)
  const lastWriter = user ? { userId: user.userId, sessionId: null } : writer
  await editors.touch(db, apiKey, input, contents, lastWriter, now)
  if (update === null) return
  signalEditorChanged(signal, input, appended && { ...appended, owners: [], bytes: update })
  const seq = appended?.seq
  // If another update was appended since the change was prepared, the snapshot does not contain it and is not stored.
  if (seq === undefined || seq !== stored.seq + 1 || snapshot === null) return
  const { snapshotSeq, createdAt } = stored
  const newSnapshot = { snapshotSeq, seq, snapshot, createdAt }
  if (editorLog.isLarge(snapshot)) afterCommit(() => services.snapshots.write(apiKey, input, newSnapshot))
  else await editorLog.compactInTransaction(db, apiKey, input, newSnapshot)
}

/** Appends an update to the log of an editor. Returns undefined if the editor does not exist. */
export async function append(
  { db, caller: { apiKey }, input, now, services }: EditorCall,
  update: Uint8Array,
): Promise<editorLog.Appended | undefined> {
  const entry = { apiKey, editor: input, update, writer, create: null, owners: [] }
  const announced = await services.editorEventsWantedBy(db, [apiKey])
  const [appended] = await editorLog.append(db, [entry], now, announced)
  return typeof appended === 'object' ? appended : undefined
}

type Row = Extract<Parameters<Call['signal']>[0], { kind: 'editor' }>['row']

/** Open sessions get the row. Otherwise they would have to read it, and a compaction may remove it before they do. */
export const signalEditorChanged = (signal: Call['signal'], input: EditorRef, row?: Row) =>
  signal({ kind: 'editor', ...editorRefOf(input), ...(row && { row }) })

/** The ids of the editor that an input names, without the other fields of the input. */
export const editorRefOf = ({ organizationId, documentId, editorId }: EditorRef): EditorRef => ({
  organizationId,
  documentId,
  editorId,
})

export const bytesOf = (updates: readonly { bytes: Uint8Array }[]) =>
  updates.reduce((sum, { bytes }) => sum + bytes.length, 0)

/** Runs work on stored CRDT data, and turns its failures into errors of the interface. */
export async function onStored<T>(where: Where, log: Call['log'], work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw failureOf(error, where, log)
  }
}

interface Where {
  editorId?: string
  versionId?: string
}

/** Turns a failure of work on stored CRDT data into an error of the interface. Logs data that cannot be read. */
export function failureOf(error: unknown, { editorId, versionId }: Where, log: Call['log']): ApiError {
  if (error instanceof UnfitContent) return new ApiError('INVALID_ARGUMENT', error.message)
  if (error instanceof Busy) {
    const message = 'The server is busy with other CRDT data. Try again.'
    return new ApiError('UNAVAILABLE', message, { retryAfterSeconds: 1, cause: error })
  }
  if (error instanceof TooMuchWork) {
    const message = 'Too much CRDT data of this API key is being processed. Try again.'
    return new ApiError('RESOURCE_EXHAUSTED', message, { retryAfterSeconds: 1, cause: error })
  }
  const isOfVersion = editorId === undefined || error instanceof DamagedVersion
  const where = isOfVersion ? { unreadableVersionIds: [versionId] } : { unreadableEditorIds: [editorId] }
  log.error({ err: error, ...where }, 'cannot read stored CRDT data')
  return error instanceof TooSlow ? tooSlow(where) : damaged(where)
}

export const damaged = (details: Record<string, unknown>) =>
  new ApiError('INTERNAL', 'The stored CRDT data cannot be read.', { details })

export const tooSlow = (details: Record<string, unknown>) =>
  new ApiError('DEADLINE_EXCEEDED', 'The CRDT data takes too long to process.', { details })
