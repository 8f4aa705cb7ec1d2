import { sql } from 'kysely'
import { mapYielding } from '../../platform/turns/loop-time.ts'
import { batched } from '../engine/batched.ts'
import type { Db } from '../engine/db.ts'
import { parse } from '../engine/json.ts'
import { slices } from '../engine/slices.ts'
import { type Audience, type StoredAudience, withoutFormer } from './audience.ts'

/** Names an annotation by the ids of the document and of the annotation. */
export interface NamedAnnotation {
  documentId: string
  annotationId: string
}

/** An annotation without its content, for decisions about who may see it. */
export interface AnnotationAudience extends NamedAnnotation {
  /** The number of the annotation in its document. */
  number: number
  audience: Audience | null
}

/** Annotations that one statement reads. Their audiences have 4 MiB if each has its maximum size. */
const rowsPerStatement = 256

/** The audiences of the annotations that exist, in any order. `query` runs each statement. */
export async function findAudiences(
  db: Db,
  apiKey: string,
  organizationId: string,
  annotations: readonly NamedAnnotation[],
  query: <T>(statement: () => Promise<T>) => Promise<T>,
): Promise<AnnotationAudience[]> {
  const found: AnnotationAudience[] = []
  for (const some of slices(annotations, rowsPerStatement)) {
    const keys = some.map(({ documentId, annotationId }) => ({
      api_key: apiKey,
      organization_id: organizationId,
      document_id: documentId,
      annotation_id: annotationId,
    }))
    const rows = await query(() => selectAudiences(db, keys))
    found.push(...(await mapYielding(rows, toAudience)))
  }
  return found
}

interface Row {
  document_id: string
  annotation_id: string
  number: number
  audience: string | null
}

const toAudience = ({ document_id, annotation_id, number, audience }: Row): AnnotationAudience => ({
  documentId: document_id,
  annotationId: annotation_id,
  number,
  audience: audience === null ? null : withoutFormer(parse<StoredAudience>(audience)),
})

const selectAudiences = batched<'api_key' | 'organization_id' | 'document_id' | 'annotation_id', Row>(
  { api_key: 'text', organization_id: 'text', document_id: 'text', annotation_id: 'text' },
  ({ row, fromRows, isPostgres }) => {
    const isRow = sql`a.api_key = ${row.api_key} and a.organization_id = ${row.organization_id}
      and a.annotation_id = ${row.annotation_id} and a.document_id = ${row.document_id}`
    const selected = sql`a.document_id, a.annotation_id, a.number, a.audience`
    return isPostgres
      ? sql`select ${selected} ${fromRows} join annotations as a on ${isRow}`
      : sql`select ${selected} from annotations as a where ${isRow}`
  },
)
