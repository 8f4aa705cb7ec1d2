import { ApiError, type EditorRange } from '@plenum/protocol'
import { sourceOf } from '../../crdt/document-threads.ts'
import type { Call } from '../../calls/call.ts'
import { groupBy } from '../../platform/group-by.ts'
import type { StoredRange } from '../../store/comments/annotation.ts'
import * as editorLog from '../../store/editors/log.ts'
import type { DocumentRef } from '../../store/refs.ts'
import { onStored } from '../shared/stored-editors.ts'
import { type ActingCall, requireAccess } from './acting-user.ts'

/** Each editor is built for the call. */
const maxEditorsPerCall = 10

/** A range of the input, and its path for error messages. */
export interface SentRange {
  range: EditorRange
  path: string
}

type RangeCall = ActingCall & { services: Pick<Call['services'], 'storedDocuments'>; log: Call['log'] }

const invalid = (message: string) => new ApiError('INVALID_ARGUMENT', message)

/**
 * Turns the ranges of the input into the form in which they are stored. Runs before the transaction, because an editor may
 * take long to build. What is written to the editor in between does not matter: positions move with the content.
 */
export async function anchorRanges(
  call: RangeCall,
  document: DocumentRef,
  sent: readonly SentRange[],
): Promise<Map<EditorRange, StoredRange>> {
  const anchored = new Map<EditorRange, StoredRange>()
  if (sent.length === 0) return anchored
  await requireAccess(call, document, 'write')
  const byEditor = groupBy(sent, ({ range }) => range.editorId)
  if (byEditor.size > maxEditorsPerCall) {
    throw invalid(`The annotations of one call can be in at most ${maxEditorsPerCall} editors.`)
  }
  for (const [editorId, some] of byEditor)
    await anchorInEditor(call, { ...document, editorId }, some, anchored)
  return anchored
}

async function anchorInEditor(
  { db, caller: { apiKey }, services: { storedDocuments }, log }: RangeCall,
  editor: DocumentRef & { editorId: string },
  sent: readonly [SentRange, ...SentRange[]],
  anchored: Map<EditorRange, StoredRange>,
): Promise<void> {
  const { editorId } = editor
  const stored = await editorLog.read(db, apiKey, editor)
  if (!stored) throw invalid(`${sent[0].path}.editorId: the editor ${editorId} does not exist.`)
  const ranges = sent.map(({ range: { contentKey, anchor, head, quote } }) => ({
    contentKey,
    anchor,
    head,
    quote,
  }))
  const results = await onStored(editor, log, () =>
    storedDocuments.anchor(sourceOf(apiKey, editor, stored), editorLog.partsOf(stored), stored, ranges),
  )
  for (const [index, { range, path }] of sent.entries()) {
    const result = results[index]
    if (!result) throw new Error('A range has no result.')
    if ('fault' in result) throw invalid(`${path}.${result.field} ${result.fault}`)
    anchored.set(range, { editorId, editorCreatedAt: stored.createdAt, ...result })
  }
}
