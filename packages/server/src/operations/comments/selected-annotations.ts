import { maxBatchItems } from '@plenum/protocol'
import type { StoredAnnotation } from '../../store/comments/annotation.ts'
import { yieldIfLate } from '../../platform/turns/loop-time.ts'
import * as annotations from '../../store/comments/annotations.ts'
import type { Visible } from '../../store/comments/audience.ts'
import { findPositions } from '../../store/comments/lists.ts'
import { scanningAll } from '../../store/engine/scan.ts'
import { unique } from '../shared/batches.ts'
import { storedLocationIds } from '../shared/locations.ts'
import type { ThreadContext } from '../../threads/thread-changes.ts'

export interface Selectors {
  organizationId: string
  documentId: string
  annotationIds?: string[]
  locationIds?: (string | number)[]
  userIds?: string[]
}

/**
 * The annotations of a document that fit all selectors, up to `limit`. `ids` has the ids that were sent or, without them,
 * those that were found.
 */
export async function selectAnnotations(
  { db, caller: { apiKey } }: Pick<ThreadContext, 'db' | 'caller'>,
  { organizationId, documentId, annotationIds, locationIds, userIds }: Selectors,
  limit = maxBatchItems,
  visible?: Visible,
): Promise<{ found: StoredAnnotation[]; hasMore: boolean; ids: string[] }> {
  const filter = {
    organizationId,
    documentIds: [documentId],
    annotationIds: annotationIds && unique(annotationIds),
    locationIds: locationIds && storedLocationIds(locationIds),
    authorIds: userIds,
  }
  const window = { limit: limit + 1, after: undefined, order: 'asc' as const }
  const scanning = scanningAll(async (statement) => {
    await yieldIfLate()
    return statement()
  })
  const { items: positions } = await findPositions(db, apiKey, filter, window, scanning, visible)
  const hasMore = positions.length > limit
  const found = await annotations.findMany(db, apiKey, organizationId, positions.slice(0, limit))
  return { found, hasMore, ids: filter.annotationIds ?? found.map(({ annotationId }) => annotationId) }
}
