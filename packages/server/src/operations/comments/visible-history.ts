import { ApiError } from '@plenum/protocol'
import * as annotations from '../../store/comments/annotations.ts'
import type { Audience, Visible } from '../../store/comments/audience.ts'
import { unique } from '../shared/batches.ts'
import { type ActingCall, requireAccess } from './acting-user.ts'

/** An event or an activity. */
interface Entry {
  annotationId?: string | undefined
  /** Who could see the annotation when the entry was recorded. */
  audience?: Audience | null | undefined
}

interface HistoryOptions<E> {
  /** The entry's snapshot of its annotation. */
  snapshotOf: (entry: E) => unknown
  /** Whether entries about deleted annotations, and about none, are read too. */
  withDeleted: boolean
}

/**
 * A user reads the history of one document, and of the entries about annotations only those about what the user may see now.
 * If another annotation has the id of a deleted one, the user must also have been allowed to see the deleted one. Undefined: a
 * backend calls, which reads everything.
 */
export async function visibleHistory<E extends Entry>(
  call: ActingCall,
  { organizationId, documentId }: { organizationId?: string; documentId?: string },
  { snapshotOf, withDeleted }: HistoryOptions<E>,
): Promise<((entries: readonly E[]) => Promise<E[]>) | undefined> {
  const { caller, db } = call
  if (!caller.user) return undefined
  if (organizationId === undefined || documentId === undefined) {
    throw new ApiError('INVALID_ARGUMENT', 'documentId is required.')
  }
  const document = { organizationId, documentId }
  const visible = (await requireAccess(call, document, 'read')) as Visible
  return async (entries) => {
    const ids = unique(entries.flatMap(({ annotationId }) => annotationId ?? []))
    const stored = await annotations.findByIds(db, caller.apiKey, document, ids)
    const current = new Map(stored.map((annotation) => [annotation.annotationId, annotation]))
    const isVisible = await visible([...stored, ...entries].map(({ audience }) => audience ?? null))
    return entries.filter((entry) => {
      const annotation = current.get(entry.annotationId ?? '')
      const couldSee = () => isVisible(entry.audience ?? null)
      if (!annotation) return withDeleted && couldSee()
      const isSame = annotation.number === annotationNumberIn(snapshotOf(entry))
      return isVisible(annotation.audience) && (isSame || couldSee())
    })
  }
}

/** The number of the annotation in a snapshot. A number is never used again. */
function annotationNumberIn(snapshot: unknown): number | undefined {
  const { annotation } = (snapshot ?? {}) as { annotation?: { annotationNumber?: number } }
  return annotation?.annotationNumber
}
