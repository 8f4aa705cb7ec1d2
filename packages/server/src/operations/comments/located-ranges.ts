import type { LocatedRange } from '@plenum/protocol'
import { sourceOf } from '../../crdt/document-threads.ts'
import type { Call } from '../../calls/call.ts'
import { groupBy } from '../../platform/group-by.ts'
import type { StoredAnnotation, StoredRange } from '../../store/comments/annotation.ts'
import { refKey } from '../../store/comments/comments.ts'
import * as editorLog from '../../store/editors/log.ts'
import type { StoredLog } from '../../store/editors/log.ts'
import type { EditorRef } from '../../store/refs.ts'
import { shownRange, unresolvedRange } from '../../threads/shown-annotations.ts'
import { failureOf } from '../shared/stored-editors.ts'

/** How long one answer may spend on building editors. After that, ranges are returned as they are stored. */
const maxLocatingMs = 10_000

type LocateCall = Pick<Call, 'db' | 'log' | 'services'> & {
  abandoned?: AbortSignal | undefined
  caller: { apiKey: string }
  input: { organizationId: string }
}

/** Finds out where the ranges of annotations are now, by `refKey`. Each editor is built once for all annotations. */
export type LocateRanges = (annotations: readonly StoredAnnotation[]) => Promise<Map<string, LocatedRange>>

/** For one answer, which may read several batches of annotations. */
export function createLocateRanges(call: LocateCall): LocateRanges {
  const { input, services, caller, abandoned } = call
  const startedAt = services.clock.elapsed()
  return async (annotations) => {
    const located = new Map<string, LocatedRange>()
    const ranges = annotations.flatMap((annotation) => {
      const { documentId, data } = annotation
      return data.targetEditor ? [{ key: refKey(annotation), documentId, range: data.targetEditor }] : []
    })
    const byEditor = groupBy(ranges, ({ documentId, range }) => JSON.stringify([documentId, range.editorId]))
    const { pause } = services.longReads.open(caller, abandoned)
    for (const some of byEditor.values()) {
      await pause()
      const [{ documentId, range }] = some
      const { editorId } = range
      const editor = { organizationId: input.organizationId, documentId, editorId }
      const isLate = services.clock.elapsed() - startedAt > maxLocatingMs
      const shown = isLate
        ? undefined
        : await locateInEditor(
            call,
            editor,
            some.map((one) => one.range),
          )
      for (const [index, one] of some.entries())
        located.set(one.key, shown?.[index] ?? unresolvedRange(one.range))
    }
    return located
  }
}

const orphan = (range: StoredRange): LocatedRange => ({
  ...shownRange(range),
  resolved: true,
  orphaned: true,
  text: '',
})

/** The ranges as they are stored, by `refKey`. Clients that have the editor open find their places themselves. */
export function storedRanges(annotations: readonly StoredAnnotation[]): Map<string, LocatedRange> {
  const ranges = new Map<string, LocatedRange>()
  for (const annotation of annotations) {
    const { targetEditor } = annotation.data
    if (targetEditor) ranges.set(refKey(annotation), unresolvedRange(targetEditor))
  }
  return ranges
}

/** Returns undefined if the editor cannot be read now: the annotations are worth more than the places of their ranges. */
async function locateInEditor(
  { db, caller: { apiKey }, services: { storedDocuments }, log }: LocateCall,
  editor: EditorRef,
  ranges: readonly StoredRange[],
): Promise<LocatedRange[] | undefined> {
  const stored = await editorLog.read(db, apiKey, editor)
  if (!stored) return ranges.map(orphan)
  try {
    const found = await storedDocuments.locate(
      sourceOf(apiKey, editor, stored),
      editorLog.partsOf(stored),
      ranges.map((range) => wantedRange(range, stored)),
    )
    return ranges.map((range, index): LocatedRange => {
      const result = found[index]
      if (!result) return unresolvedRange(range)
      const { anchor, head, ...place } = result
      // A range that was found by its quote has new positions.
      const positions = place.orphaned ? undefined : { anchor, head }
      return { ...shownRange(range), ...positions, resolved: true, ...place }
    })
  } catch (error) {
    failureOf(error, editor, log)
    return undefined
  }
}

/** In another editor with the same id only the quote can be found. */
function wantedRange({ contentKey, anchor, head, quote, editorCreatedAt }: StoredRange, stored: StoredLog) {
  if (editorCreatedAt === stored.createdAt) return { contentKey, anchor, head, quote }
  const [{ assoc: ofAnchor = 0 }, { assoc: ofHead = 0 }] = [anchor, head]
  return { contentKey, anchor: { assoc: ofAnchor }, head: { assoc: ofHead }, quote }
}
