import { encodeJson, joinedBody } from '../../calls/answers/encoded-json.ts'
import type { LongRead } from '../../platform/turns/long-reads.ts'
import type { StoredAudience } from '../../store/comments/audience.ts'
import { readChanges } from '../../store/comments/changes.ts'
import type { Db } from '../../store/engine/db.ts'
import type { DocumentRef } from '../../store/refs.ts'
import { storedRanges } from './located-ranges.ts'
import { presentAnnotations } from './present.ts'

/** More changes than this are not sent: clients load the annotations again. */
const maxChanges = 50
/** A larger annotation is only named: clients load it. */
const maxJsonLength = 64 * 1024

interface ChangedThreads {
  changed: {
    annotationId: string
    json: string | undefined
    audience: StoredAudience | null
    createdSeq: number
    audienceSeq: number
  }[]
  removed: { annotationId: string; audience: StoredAudience | null }[]
  isTooMany: boolean
}

/** The annotations of an open document that changed between two positions, as its clients receive them. */
export async function readChangedThreads(
  db: Db,
  apiKey: string,
  document: DocumentRef,
  from: number,
  to: number,
  reading: LongRead,
): Promise<ChangedThreads> {
  const { changed, removed } = await readChanges(db, apiKey, document, { from, to }, maxChanges + 1)
  if (changed.length + removed.length > maxChanges) return { changed: [], removed: [], isTooMany: true }
  const { organizationId } = document
  const deps = { db, apiKey, organizationId, version: 'v2', reading, ranges: storedRanges(changed) } as const
  const shown = await presentAnnotations(deps, changed)
  return {
    changed: changed.map(({ annotationId, audience, createdSeq, audienceSeq }, index) => {
      const json = joinedBody(encodeJson(shown[index])).toString()
      return {
        annotationId,
        json: json.length > maxJsonLength ? undefined : json,
        audience,
        createdSeq,
        audienceSeq,
      }
    }),
    removed,
    isTooMany: false,
  }
}
