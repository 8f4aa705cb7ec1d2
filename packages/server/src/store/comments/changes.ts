import type { Db } from '../engine/db.ts'
import { parse } from '../engine/json.ts'
import type { DocumentRef } from '../refs.ts'
import { type StoredAnnotation, toAnnotation } from './annotation.ts'
import type { StoredAudience } from './audience.ts'

/** The annotations of a document that changed after `from`, up to and including `to`: those that exist, and those removed. */
export interface Changes {
  changed: StoredAnnotation[]
  removed: { annotationId: string; audience: StoredAudience | null }[]
}

/** Reads the changes, at most `limit` of each kind. An annotation that changed again after `to` is left for the next read. */
export async function readChanges(
  db: Db,
  apiKey: string,
  { organizationId, documentId }: DocumentRef,
  { from, to }: { from: number; to: number },
  limit: number,
): Promise<Changes> {
  const changed = await db
    .selectFrom('annotations')
    .selectAll()
    .where('api_key', '=', apiKey)
    .where('organization_id', '=', organizationId)
    .where('document_id', '=', documentId)
    .where('seq', '>', from)
    .where('seq', '<=', to)
    .orderBy('seq')
    .limit(limit)
    .execute()
  const removed = await db
    .selectFrom('removed_annotations')
    .select(['annotation_id', 'audience'])
    .where('api_key', '=', apiKey)
    .where('organization_id', '=', organizationId)
    .where('document_id', '=', documentId)
    .where('seq', '>', from)
    .where('seq', '<=', to)
    .orderBy('seq')
    .limit(limit)
    .execute()
  return {
    changed: changed.map(toAnnotation),
    removed: removed.map((row) => ({
      annotationId: row.annotation_id,
      audience: row.audience === null ? null : parse<StoredAudience>(row.audience),
    })),
  }
}
