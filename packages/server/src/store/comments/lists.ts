import { type SelectQueryBuilder, sql } from 'kysely'
import { parseAudience, type Visible } from './audience.ts'
import type { Cursor, Db } from '../engine/db.ts'
import { sqliteOf } from '../engine/prepared.ts'
import { inWindow, joinParts, type Part, scan, type Scanning, type Window } from '../engine/scan.ts'
import type { Schema } from '../schema/schema.ts'
import { type AnnotationRef, newestCommentFor } from './annotation.ts'

/** Which annotations a list shows. All given conditions must hold. */
export interface Filter {
  organizationId: string
  documentIds?: readonly string[] | undefined
  folderId?: string | null | undefined
  annotationIds?: readonly string[] | undefined
  locationIds?: readonly string[] | undefined
  authorIds?: readonly string[] | undefined
  mentionedIds?: readonly string[] | undefined
  statusIds?: readonly string[] | undefined
  resolvedBy?: string | undefined
  updated?: Interval
  created?: Interval
}

/** Times between two others, both excluded. */
export interface Interval {
  after?: number | undefined
  before?: number | undefined
}

/** An annotation in a list, and the columns that the list is ordered by. */
export interface Position extends AnnotationRef {
  annotationId: string
  lastUpdated: number
}

/**
 * One statement scans this many rows: 2 ms on SQLite. On PostgreSQL a statement is a round trip, so it scans more. An audience
 * may have 16 KiB.
 */
const rowsPerScan = (db: Db) => (sqliteOf(db) ? 200 : 500)

/** Runs statements one after the other, each when it may run. */
type Reading = Pick<Scanning, 'query'>

export const cursorOf = ({ lastUpdated, documentId, number }: Place): Cursor => [
  lastUpdated,
  documentId,
  number,
]

/** Finds the next annotations that fit, by their last change, then document and number. */
export async function findPositions(
  db: Db,
  apiKey: string,
  filter: Filter,
  window: Window,
  scanning: Scanning,
  visible?: Visible,
): Promise<Part<Position>> {
  const { documentIds, annotationIds, mentionedIds } = filter
  if (documentIds?.length === 0 || mentionedIds?.length === 0) return { items: [] }
  if (annotationIds) {
    const found = await findNamed(db, apiKey, filter, annotationIds, scanning, visible)
    return { items: inWindow(found, cursorOf, window) }
  }
  const lists = documentIds ?? [undefined]
  const maxRows = Math.ceil(scanning.rowsLeft / lists.length)
  const parts: Part<Position>[] = []
  for (const documentId of lists) {
    parts.push(
      await scan(window, scanning, {
        steps: [(step) => inOrder(rowsOf(db, apiKey, filter, visible), documentId, step, filter).execute()],
        cursorOf: ({ last_updated, document_id, number }: Row) => [last_updated, document_id, number],
        keep: (rows) => keepFitting(rows, filter, visible),
        rowsPerStep: rowsPerScan(db),
        maxRows,
      }),
    )
  }
  return joinParts(parts, cursorOf, window.order)
}

/** An id names one annotation in each document. Without a document, a list shows this many with the same id. */
const maxWithSameId = 30

/** The annotations with these ids that fit, in the documents of the filter or, without them, in any document. */
async function findNamed(
  db: Db,
  apiKey: string,
  filter: Filter,
  annotationIds: readonly string[],
  reading: Reading,
  visible: Visible | undefined,
): Promise<Position[]> {
  const { documentIds } = filter
  if (annotationIds.length === 0) return []
  if (documentIds) {
    const rows = await reading.query(() =>
      rowsOf(db, apiKey, filter, visible)
        .where('annotation_id', 'in', annotationIds)
        .where('document_id', 'in', documentIds)
        .execute(),
    )
    return keepFitting(rows, filter, visible)
  }
  const found: Position[] = []
  for (const annotationId of annotationIds) {
    found.push(...(await findInAllDocuments(db, apiKey, filter, annotationId, reading, visible)))
  }
  return found
}

async function findInAllDocuments(
  db: Db,
  apiKey: string,
  filter: Filter,
  annotationId: string,
  reading: Reading,
  visible: Visible | undefined,
): Promise<Position[]> {
  const found: Position[] = []
  const limit = rowsPerScan(db)
  for (let after = ''; ;) {
    const start = after
    const rows = await reading.query(() =>
      rowsOf(db, apiKey, filter, visible)
        .where('annotation_id', '=', annotationId)
        .where('document_id', '>', start)
        .orderBy('document_id')
        .limit(limit)
        .execute(),
    )
    found.push(...(await keepFitting(rows, filter, visible)))
    const last = rows.at(-1)
    if (!last || rows.length < limit || found.length >= maxWithSameId) return found.slice(0, maxWithSameId)
    after = last.document_id
  }
}

const columns = [
  'annotations.document_id',
  'annotations.number',
  'annotations.annotation_id',
  'annotations.last_updated',
  'annotations.created_at',
  'annotations.author_id',
  'annotations.status_id',
  'annotations.resolved_by',
  'annotations.location_id',
] as const

interface Row {
  document_id: string
  number: number
  annotation_id: string
  last_updated: number
  created_at: number
  author_id: string
  status_id: string
  resolved_by: string | null
  location_id: string | null
  audience: string | null
  is_mentioned: number
  is_in_folder: number
}

/** The columns that decide whether an annotation fits. Conditions on other tables are columns too: a scan has no gaps. */
const rowsOf = (
  db: Db,
  apiKey: string,
  { organizationId, mentionedIds, folderId }: Filter,
  visible: Visible | undefined,
) => {
  const always = sql<number>`1`
  const mentions = sql<number>`
    case when exists (
      select 1 from annotation_users as u
      where u.api_key = annotations.api_key and u.organization_id = annotations.organization_id
        and u.document_id = annotations.document_id and u.number = annotations.number
        and u.user_id in (${sql.join(mentionedIds ?? [])}) and u.involvement = 'mentioned'
    ) then 1 else 0 end`
  const isInFolder = folderId === null ? sql`d.folder_id is null` : sql`d.folder_id = ${folderId}`
  const inFolder = sql<number>`
    case when exists (
      select 1 from documents as d
      where d.api_key = annotations.api_key and d.organization_id = annotations.organization_id
        and d.document_id = annotations.document_id and ${isInFolder}
    ) then 1 else 0 end`
  return db
    .selectFrom('annotations')
    .select(columns)
    .select([
      (mentionedIds ? mentions : always).as('is_mentioned'),
      (folderId === undefined ? always : inFolder).as('is_in_folder'),
      (visible ? sql<string | null>`annotations.audience` : sql<null>`null`).as('audience'),
    ])
    .where('annotations.api_key', '=', apiKey)
    .where('annotations.organization_id', '=', organizationId)
}

type RowQuery = SelectQueryBuilder<Schema, 'annotations', Row>

/** One step through the rows, behind the cursor `after`. */
function inOrder(
  query: RowQuery,
  documentId: string | undefined,
  { limit, after, order }: Window,
  filter: Filter,
): RowQuery {
  const columns = (['last_updated', 'document_id', 'number'] as const).filter(
    (column) => documentId === undefined || column !== 'document_id',
  )
  let step = query.limit(limit)
  if (documentId !== undefined) step = step.where('annotations.document_id', '=', documentId)
  const { after: updatedAfter, before: updatedBefore } = filter.updated ?? {}
  if (updatedAfter !== undefined) step = step.where('annotations.last_updated', '>', updatedAfter)
  if (updatedBefore !== undefined) step = step.where('annotations.last_updated', '<', updatedBefore)
  for (const column of columns) step = step.orderBy(`annotations.${column}`, order)
  if (!after) return step
  const [lastUpdated, document, number] = after
  const values =
    documentId === undefined ? [lastUpdated, document, number] : afterInDocument(documentId, after, order)
  const refs = columns.map((column) => sql.ref(`annotations.${column}`))
  return step.where(
    sql<boolean>`(${sql.join(refs)}) ${sql.raw(order === 'asc' ? '>' : '<')} (${sql.join(values)})`,
  )
}

/** The cursor of a list of several documents, for one of them: documents before the cursor's begin behind all its numbers. */
function afterInDocument(
  documentId: string,
  [lastUpdated, document, number]: Cursor,
  order: 'asc' | 'desc',
): Cursor {
  if (documentId === document) return [lastUpdated as number, number as number]
  const isBehind = order === 'asc' ? documentId > String(document) : documentId < String(document)
  // A document behind the cursor's has all its annotations of that time still to come.
  const all = order === 'asc' ? -1 : Number.MAX_SAFE_INTEGER
  const none = order === 'asc' ? Number.MAX_SAFE_INTEGER : -1
  return [lastUpdated as number, isBehind ? all : none]
}

async function keepFitting(
  rows: readonly Row[],
  filter: Filter,
  visible: Visible | undefined,
): Promise<Position[]> {
  const fitting = rows.filter((row) => fits(row, filter))
  if (!visible || fitting.length === 0) return fitting.map(toPosition)
  const audiences = fitting.map((row) => parseAudience(row.audience, row.author_id))
  const isVisible = await visible(audiences)
  return fitting.filter((_, index) => isVisible(audiences[index] ?? null)).map(toPosition)
}

const toPosition = ({ document_id, number, annotation_id, last_updated }: Row): Position => ({
  documentId: document_id,
  number,
  annotationId: annotation_id,
  lastUpdated: last_updated,
})

const isIn = (value: string | null, values: readonly string[] | undefined) =>
  values === undefined || (value !== null && values.includes(value))

const isWithin = (time: number, { after = -Infinity, before = Infinity }: Interval = {}) =>
  time > after && time < before

const fits = (row: Row, filter: Filter): boolean =>
  isIn(row.author_id, filter.authorIds) &&
  isIn(row.status_id, filter.statusIds) &&
  isIn(row.location_id, filter.locationIds) &&
  (filter.resolvedBy === undefined || row.resolved_by === filter.resolvedBy) &&
  isWithin(row.last_updated, filter.updated) &&
  isWithin(row.created_at, filter.created) &&
  row.is_mentioned === 1 &&
  row.is_in_folder === 1

/** The columns that a list is ordered by. */
type Place = Omit<Position, 'annotationId'>

/** The annotations of a document that a user may see, and how many of them have a comment that the user has not seen. */
export interface Count {
  total: number
  unread: number
}

/** Counts in short steps. */
export async function count(
  db: Db,
  apiKey: string,
  {
    organizationId,
    documentId,
    userId,
    statusIds,
  }: {
    organizationId: string
    documentId: string
    userId: string
    statusIds?: readonly string[] | undefined
  },
  visible: Visible,
  reading: Reading,
): Promise<Count> {
  const counted = { total: 0, unread: 0 }
  const limit = rowsPerScan(db)
  for (let after = 0; ;) {
    const start = after
    const rows = await reading.query(() =>
      db
        .selectFrom('annotations as a')
        .leftJoin('annotation_views as v', (join) =>
          join
            .onRef('v.api_key', '=', 'a.api_key')
            .onRef('v.organization_id', '=', 'a.organization_id')
            .onRef('v.document_id', '=', 'a.document_id')
            .on('v.user_id', '=', userId)
            .onRef('v.number', '=', 'a.number'),
        )
        .select(['a.number', 'a.author_id', 'a.status_id', 'a.audience', 'v.viewed_seq'])
        .select(['a.last_comment_seq', 'a.last_comment_by', 'a.other_comment_seq'])
        .where('a.api_key', '=', apiKey)
        .where('a.organization_id', '=', organizationId)
        .where('a.document_id', '=', documentId)
        .where('a.number', '>', start)
        .orderBy('a.number')
        .limit(limit)
        .execute(),
    )
    const parsed = rows.map((row) => ({
      row,
      audience: parseAudience(row.audience, row.author_id),
    }))
    const isVisible = await visible(parsed.map(({ audience }) => audience))
    for (const { row, audience } of parsed) {
      if (!isIn(row.status_id, statusIds) || !isVisible(audience)) continue
      counted.total += 1
      const newest = newestCommentFor(
        {
          lastCommentSeq: row.last_comment_seq,
          lastCommentBy: row.last_comment_by,
          otherCommentSeq: row.other_comment_seq,
        },
        userId,
      )
      if (newest > (row.viewed_seq ?? 0)) counted.unread += 1
    }
    const last = rows.at(-1)
    if (!last || rows.length < limit) return counted
    after = last.number
  }
}
