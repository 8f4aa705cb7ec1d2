import { ApiError } from '@plenum/protocol'
import { type AnnotationAudience, findAudiences } from '../../store/comments/audiences.ts'
import type { Audience, Visible } from '../../store/comments/audience.ts'
import type { Scanning } from '../../store/engine/scan.ts'
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

/** What a user may see of the history of one document. */
interface VisibleHistory<E extends Entry> {
  /** Keeps entries as far as their annotations decide, as these are now. Other reasons may still hide them. */
  keepAbout: <Place extends { annotationId?: string | null | undefined }>(
    places: readonly Place[],
  ) => Promise<Place[]>
  keep: (entries: readonly E[]) => Promise<E[]>
}

/**
 * A user reads the history of one document, and of the entries about annotations only those about what the user may see now.
 * If another annotation has the id of a deleted one, the user must also have been allowed to see the deleted one. Undefined: a
 * backend calls, which reads everything. `query` runs the statements.
 */
export async function visibleHistory<E extends Entry>(
  call: ActingCall,
  { organizationId, documentId }: { organizationId?: string; documentId?: string },
  query: Scanning['query'],
  { snapshotOf, withDeleted }: HistoryOptions<E>,
): Promise<VisibleHistory<E> | undefined> {
  const { caller, db } = call
  if (!caller.user) return undefined
  if (organizationId === undefined || documentId === undefined) {
    throw new ApiError('INVALID_ARGUMENT', 'documentId is required.')
  }
  const document = { organizationId, documentId }
  const visible = (await requireAccess(call, document, 'read')) as Visible
  /** The annotations that were looked up. Null: there is none with the id. */
  const known = new Map<string, AnnotationAudience | null>()
  const currentOf = ({ annotationId }: { annotationId?: string | null | undefined }) =>
    known.get(annotationId ?? '') ?? undefined

  const learn = async (places: readonly { annotationId?: string | null | undefined }[]) => {
    const ids = unique(places.flatMap(({ annotationId }) => annotationId ?? []))
    const unknown = ids.filter((id) => !known.has(id))
    for (const id of unknown) known.set(id, null)
    const named = unknown.map((annotationId) => ({ documentId, annotationId }))
    const found = await findAudiences(db, caller.apiKey, organizationId, named, query)
    for (const one of found) known.set(one.annotationId, one)
    return ids.flatMap((id) => known.get(id) ?? [])
  }

  return {
    async keepAbout(places) {
      const current = await learn(places)
      const isVisible = await visible(current.map(({ audience }) => audience))
      return places.filter((place) => {
        const annotation = currentOf(place)
        return annotation === undefined || isVisible(annotation.audience)
      })
    },
    async keep(entries) {
      const current = await learn(entries)
      const isVisible = await visible([...current, ...entries].map(({ audience }) => audience ?? null))
      return entries.filter((entry) => {
        const annotation = currentOf(entry)
        const couldSee = () => isVisible(entry.audience ?? null)
        if (!annotation) return withDeleted && couldSee()
        const isSame = annotation.number === annotationNumberIn(snapshotOf(entry))
        return isVisible(annotation.audience) && (isSame || couldSee())
      })
    },
  }
}

/** The number of the annotation in a snapshot. A number is never used again. */
function annotationNumberIn(snapshot: unknown): number | undefined {
  const { annotation } = (snapshot ?? {}) as { annotation?: { annotationNumber?: number } }
  return annotation?.annotationNumber
}
