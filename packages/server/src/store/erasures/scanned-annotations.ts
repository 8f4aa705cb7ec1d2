import { sql } from 'kysely'
import { type StoredAnnotation, toAnnotation } from '../comments/annotation.ts'
import type { Db } from '../engine/db.ts'
import type { RowStep } from '../deletions/row-step.ts'
import type { AnnotationTable } from '../schema/comment-tables.ts'
import { scanRows } from './row-scan.ts'
import type { ErasedUsers } from './user-rows.ts'

const key = ['document_id', 'number'] as const

/** All columns but those of the key. The compiler demands each. */
const columns: Record<Exclude<keyof AnnotationTable, (typeof key)[number]>, true> = {
  api_key: true,
  organization_id: true,
  annotation_id: true,
  seq: true,
  created_seq: true,
  audience_seq: true,
  author_id: true,
  assignee_id: true,
  resolved_by: true,
  status_id: true,
  location_id: true,
  comments: true,
  comment_bytes: true,
  last_position: true,
  last_comment_seq: true,
  last_comment_by: true,
  other_comment_seq: true,
  audience: true,
  data: true,
  created_at: true,
  last_updated: true,
}

/** A step that shows all annotations of an organization to `visit`, some at a time, or the same ones `again`. */
export const scanAnnotations = (
  { apiKey, organizationId }: ErasedUsers,
  visit: (db: Db, annotations: readonly StoredAnnotation[]) => Promise<'again' | undefined>,
): RowStep =>
  scanRows({
    table: 'annotations',
    key,
    columns: Object.keys(columns) as (keyof typeof columns)[],
    where: sql`api_key = ${apiKey} and organization_id = ${organizationId}`,
    rowsPerStep: 30,
    visit: (db, rows) => visit(db, rows.map(toAnnotation)),
  })
