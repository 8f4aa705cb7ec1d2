import type { StoredAnnotation } from '../store/comments/annotation.ts'
import * as annotations from '../store/comments/annotations.ts'
import * as deletions from '../store/deletions.ts'
import * as documentMigrations from '../store/documents/document-migrations.ts'
import type { Db } from '../store/engine/db.ts'
import type { DocumentRef } from '../store/refs.ts'

/** The annotation of an event, as the event names it. */
export interface EventAnnotation extends DocumentRef {
  annotationId: string
  /** Tell it from another annotation that has its id later. Unknown in what earlier versions stored. */
  annotationNumber?: number | undefined
  annotationCreatedAt?: number | undefined
}

/** A document may have been moved again. */
const maxMoves = 5

/**
 * The annotation that an event was about, as it is now, also if its document has another id by now. Undefined: it was deleted.
 * Throws while the document is being moved: the job runs again.
 */
export async function findEventAnnotation(
  db: Db,
  apiKey: string,
  event: EventAnnotation,
): Promise<StoredAnnotation | undefined> {
  const { organizationId, annotationId, annotationNumber, annotationCreatedAt } = event
  const isSame = <T>(now: T, then: T | undefined) => then === undefined || now === then
  let { documentId } = event
  for (let moves = 0; moves <= maxMoves; moves++) {
    const [found] = await annotations.findByIds(db, apiKey, { organizationId, documentId }, [annotationId])
    // A moved annotation has another number.
    const isFound =
      found &&
      isSame(found.createdAt, annotationCreatedAt) &&
      (moves > 0 || isSame(found.number, annotationNumber))
    if (isFound) return found
    const newDocumentId = await documentMigrations.findTarget(db, apiKey, organizationId, documentId)
    if (newDocumentId === undefined) return undefined
    if (await deletions.isMoving(db, apiKey, { organizationId, documentId, newDocumentId }))
      throw new Error('The document is being moved.')
    documentId = newDocumentId
  }
  return undefined
}

/** A change of which it is not known who has seen it. No document has as many. */
export const unseenSeq = Number.MAX_SAFE_INTEGER

/** The event in the document where its annotation is now. The changes of another document have other numbers. */
export const inDocumentOf = <E extends DocumentRef & { seq: number }>(
  { documentId }: StoredAnnotation,
  event: E,
): E => (event.documentId === documentId ? event : { ...event, documentId, seq: unseenSeq })
