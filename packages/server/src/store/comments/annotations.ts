import { sql } from 'kysely'
import { batched } from '../engine/batched.ts'
import type { Db } from '../engine/db.ts'
import { limitData } from '../engine/json.ts'
import { padded, slices } from '../engine/slices.ts'
import { movedAwaySeq } from '../documents/moved-away.ts'
import { type Position, positionOf } from '../documents/documents.ts'
import { yieldIfLate } from '../../platform/turns/loop-time.ts'
import { prepared, sqliteOf } from '../engine/prepared.ts'
import type { DocumentRef } from '../refs.ts'
import type { AnnotationTable } from '../schema/comment-tables.ts'
import { type AnnotationRef, type StoredAnnotation, toAnnotation } from './annotation.ts'
import { withoutFormer } from './audience.ts'
import { annotationKey, belongsTo, type KeyColumn, keysOf } from './annotation-key.ts'

/**
 * Numbers a change of the document's annotations, and reserves numbers for new ones. Returns the position of the document
 * after the change, and the first reserved number. Returns undefined if the document does not exist.
 */
export async function numberChange(
  db: Db,
  apiKey: string,
  { organizationId, documentId }: DocumentRef,
  newAnnotations = 0,
): Promise<{ position: Position; firstNumber: number } | undefined> {
  const [row] = await updateNumbers(db, { apiKey, organizationId, documentId, newAnnotations })
  return row && { position: positionOf(db, row), firstNumber: row.annotation_number - newAnnotations + 1 }
}

const updateNumbers = prepared(
  (db, of: { apiKey: string; organizationId: string; documentId: string; newAnnotations: number }) =>
    db
      .updateTable('documents')
      .set({
        event_seq: sql`event_seq + 1`,
        annotation_number: sql`annotation_number + ${of.newAnnotations}`,
      })
      .where('api_key', '=', of.apiKey)
      .where('organization_id', '=', of.organizationId)
      .where('document_id', '=', of.documentId)
      .where('event_seq', '>', movedAwaySeq)
      .returning(['created_at', 'event_seq', 'annotation_number']),
)

type Row = Pick<AnnotationTable, keyof AnnotationTable>

const columns = {
  ...annotationKey,
  annotation_id: 'text',
  seq: 'bigint',
  created_seq: 'bigint',
  audience_seq: 'bigint',
  author_id: 'text',
  assignee_id: 'text',
  resolved_by: 'text',
  status_id: 'text',
  location_id: 'text',
  comments: 'bigint',
  comment_bytes: 'bigint',
  last_position: 'bigint',
  last_comment_seq: 'bigint',
  last_comment_by: 'text',
  other_comment_seq: 'bigint',
  audience: 'text',
  data: 'text',
  created_at: 'bigint',
  last_updated: 'bigint',
} as const satisfies Record<keyof Row, 'text' | 'bigint'>

const names = Object.keys(columns) as (keyof Row)[]

/** The annotations of the document with these ids, in any order. */
export async function findByIds(
  db: Db,
  apiKey: string,
  { organizationId, documentId }: DocumentRef,
  annotationIds: readonly string[],
): Promise<StoredAnnotation[]> {
  const found: StoredAnnotation[] = []
  for (const ids of slices(annotationIds)) {
    const rows = await selectByIds(db, { apiKey, organizationId, documentId, ids: padded(ids) })
    found.push(...rows.map(toAnnotation))
  }
  return found
}

/** Keeps the annotation from being deleted until the transaction ends. Returns false if it does not exist. */
export async function hold(
  db: Db,
  apiKey: string,
  { organizationId, documentId }: DocumentRef,
  annotationId: string,
): Promise<boolean> {
  const row = await db
    .selectFrom('annotations')
    .select('number')
    .where('api_key', '=', apiKey)
    .where('organization_id', '=', organizationId)
    .where('annotation_id', '=', annotationId)
    .where('document_id', '=', documentId)
    // On SQLite, no other transaction writes meanwhile.
    .$if(!sqliteOf(db), (query) => query.forKeyShare())
    .executeTakeFirst()
  return row !== undefined
}

const selectByIds = prepared(
  (db, of: { apiKey: string; organizationId: string; documentId: string; ids: readonly string[] }) =>
    db
      .selectFrom('annotations')
      .select(names)
      .where('api_key', '=', of.apiKey)
      .where('organization_id', '=', of.organizationId)
      .where('annotation_id', 'in', of.ids)
      .where('document_id', '=', of.documentId),
)

/** The annotations with these numbers, in any order. */
export async function findMany(
  db: Db,
  apiKey: string,
  organizationId: string,
  refs: readonly AnnotationRef[],
): Promise<StoredAnnotation[]> {
  return (await selectMany(db, keysOf(apiKey, organizationId, refs))).map(toAnnotation)
}

const selectMany = batched<KeyColumn, AnnotationTable>(annotationKey, ({ row, fromRows, isPostgres }) => {
  const isRow = belongsTo('a', row)
  const selected = sql.join(names.map((name) => sql.ref(`a.${name}`)))
  return isPostgres
    ? sql`select ${selected} ${fromRows} join annotations as a on ${isRow}`
    : sql`select ${selected} from annotations as a where ${isRow}`
})

/** Adds annotations, or replaces those with the same number. */
export async function put(
  db: Db,
  apiKey: string,
  organizationId: string,
  annotations: readonly StoredAnnotation[],
): Promise<void> {
  await upsert(
    db,
    annotations.map((annotation) => toRow(apiKey, organizationId, annotation)),
  )
}

function toRow(apiKey: string, organizationId: string, annotation: StoredAnnotation): Row {
  const { annotationId } = annotation
  const data = JSON.stringify(annotation.data)
  const audience = annotation.audience && JSON.stringify(annotation.audience)
  // Both together are limited: a list reads the audience of many annotations.
  const limited = JSON.stringify(withoutFormer(annotation.audience)) ?? ''
  limitData([data, limited], `annotation ${annotationId}`)
  return {
    api_key: apiKey,
    organization_id: organizationId,
    document_id: annotation.documentId,
    number: annotation.number,
    annotation_id: annotationId,
    seq: annotation.seq,
    created_seq: annotation.createdSeq,
    audience_seq: annotation.audienceSeq,
    author_id: annotation.authorId,
    assignee_id: annotation.assigneeId,
    resolved_by: annotation.resolvedBy,
    status_id: annotation.data.status.id,
    location_id: annotation.locationId,
    comments: annotation.comments,
    comment_bytes: annotation.commentBytes,
    last_position: annotation.lastPosition,
    last_comment_seq: annotation.lastCommentSeq,
    last_comment_by: annotation.lastCommentBy,
    other_comment_seq: annotation.otherCommentSeq,
    audience,
    data,
    created_at: annotation.createdAt,
    last_updated: annotation.lastUpdated,
  }
}

const changeable = names.filter((name) => !(name in annotationKey))

const upsert = batched<keyof Row>(columns, ({ row, fromRows }) => {
  const values = names.map((name) => row[name])
  const changes = changeable.map((name) => sql`${sql.ref(name)} = excluded.${sql.ref(name)}`)
  return sql`
    insert into annotations (${sql.join(names.map((name) => sql.ref(name)))})
    select ${sql.join(values)} ${fromRows} where true
    on conflict (api_key, organization_id, document_id, number) do update set ${sql.join(changes)}`
})

/** Removes annotations with everything inside, and records the removal for clients that saw them. */
export async function remove(
  db: Db,
  apiKey: string,
  organizationId: string,
  annotations: readonly StoredAnnotation[],
  seq: number,
): Promise<void> {
  const removed = annotations.map(({ documentId, annotationId, audience, audienceSeq }) => ({
    api_key: apiKey,
    organization_id: organizationId,
    document_id: documentId,
    annotation_id: annotationId,
    seq,
    // A former audience in another document says nothing about the clients of this one.
    audience:
      audience && JSON.stringify(audience.former?.until === audienceSeq ? audience : withoutFormer(audience)),
  }))
  const keys = keysOf(apiKey, organizationId, annotations)
  // On SQLite one by one: foreign keys delete up to a thousand comments with each.
  const together = sqliteOf(db) ? 1 : keys.length
  for (let from = 0; from < keys.length; from += together) {
    await yieldIfLate()
    await recordRemoved(db, removed.slice(from, from + together))
    await deleteMany(db, keys.slice(from, from + together))
  }
}

const recordRemoved = batched(
  {
    api_key: 'text',
    organization_id: 'text',
    document_id: 'text',
    annotation_id: 'text',
    seq: 'bigint',
    audience: 'text',
  },
  ({ row, fromRows }) => sql`
    insert into removed_annotations (api_key, organization_id, document_id, annotation_id, seq, audience)
    select ${row.api_key}, ${row.organization_id}, ${row.document_id}, ${row.annotation_id}, ${row.seq}, ${row.audience}
      ${fromRows}
    where true
    on conflict (api_key, organization_id, document_id, annotation_id) do update
      set seq = excluded.seq, audience = excluded.audience`,
)

const deleteMany = batched<KeyColumn>(annotationKey, ({ row, fromRows, isPostgres }) => {
  const using = isPostgres ? sql`using (select r.* ${fromRows}) as r` : sql``
  return sql`delete from annotations ${using} where ${belongsTo('annotations', row)}`
})
