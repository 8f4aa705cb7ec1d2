import type { Activity, FeatureType } from '@plenum/protocol'
import { type Expression, expressionBuilder, type SelectQueryBuilder, sql, type SqlBool } from 'kysely'
import { mapYielding } from '../../platform/turns/loop-time.ts'
import type { Audience } from '../comments/audience.ts'
import type { Cursor, Db } from '../engine/db.ts'
import { parse } from '../engine/json.ts'
import {
  cursorOf,
  inWindow,
  type Keep,
  type Part,
  type Position,
  rowsPerScan,
  scan,
  type Scanning,
  type Window,
} from '../engine/scan.ts'
import type { Schema } from '../schema/schema.ts'

/** The stored content of an activity: what is returned, without the columns. */
export type Content = Omit<
  Activity,
  'id' | 'featureType' | 'actionType' | 'targetEntityId' | 'timestamp' | 'immutable' | 'metadata'
>

export interface StoredActivity extends Omit<Activity, keyof Content | 'metadata'> {
  documentId: string
  /** The comment thread that the activity is about. */
  annotationId?: string
  /** Who could see the thread then. Default: everyone who may read the document. */
  audience?: Audience
  content: Content
}

/** Which activities a list shows. All given conditions must hold. */
export interface Filter {
  organizationId: string
  documentId?: string
  targetEntityId?: string
  userId?: string
  featureTypes?: readonly FeatureType[]
  actionTypes?: readonly string[]
  ids?: readonly string[]
}

/** The activities with these ids that exist, in the order of the ids. */
export async function findMany(
  db: Db,
  apiKey: string,
  organizationId: string,
  ids: readonly string[],
): Promise<StoredActivity[]> {
  if (ids.length === 0) return []
  const rows = await db
    .selectFrom('activities')
    .select(['activity_id', 'document_id', 'timestamp', 'feature_type', 'action_type'])
    .select(['target_entity_id', 'annotation_id', 'audience', 'immutable', 'data'])
    .where('api_key', '=', apiKey)
    .where('organization_id', '=', organizationId)
    .where('activity_id', 'in', ids)
    .execute()
  const found = await mapYielding(rows, (row): [string, StoredActivity] => [
    row.activity_id,
    {
      id: row.activity_id,
      documentId: row.document_id,
      featureType: row.feature_type,
      actionType: row.action_type,
      ...(row.target_entity_id !== null && { targetEntityId: row.target_entity_id }),
      ...(row.annotation_id !== null && { annotationId: row.annotation_id }),
      ...(row.audience !== null && { audience: parse<Audience>(row.audience) }),
      timestamp: row.timestamp,
      immutable: row.immutable === 1,
      content: parse(row.data),
    },
  ])
  const byId = new Map(found)
  return ids.flatMap((id) => byId.get(id) ?? [])
}

/** An activity in a list. */
export interface ActivityPosition extends Position {
  /** The comment thread that the activity is about. Set only in lists of which only some activities are kept. */
  annotationId?: string | null
}

/** The activities of an organization, and whether each fits. The ids of the filter are not checked. */
const select = (db: Db, apiKey: string, filter: Filter, condition = fits(filter)) =>
  db
    .selectFrom('activities')
    .select(['activity_id as key', 'timestamp'])
    // A flag and not a condition: with a condition, SQLite might not read the rows in the order of the list.
    .select(sql<number>`case when ${condition} then 1 else 0 end`.as('fits'))
    .where('api_key', '=', apiKey)
    .where('organization_id', '=', filter.organizationId)

type Select = SelectQueryBuilder<Schema, 'activities', ActivityPosition & { fits: number }>

function fits({
  documentId,
  targetEntityId,
  userId,
  featureTypes,
  actionTypes,
}: Filter): Expression<SqlBool> {
  const eb = expressionBuilder<Schema, 'activities'>()
  return eb.and([
    ...(documentId === undefined ? [] : [eb('document_id', '=', documentId)]),
    ...(targetEntityId === undefined ? [] : [eb('target_entity_id', '=', targetEntityId)]),
    ...(userId === undefined ? [] : [eb('user_id', '=', userId)]),
    ...(featureTypes === undefined ? [] : [eb('feature_type', 'in', featureTypes)]),
    ...(actionTypes === undefined ? [] : [eb('action_type', 'in', actionTypes)]),
  ])
}

/** A condition for activities that can be deleted. */
export const areMutable = sql<boolean>`immutable = 0`

const areDeletable = (filter: Filter) => sql<boolean>`${fits(filter)} and ${areMutable}`

/** The columns that an index begins with, and the value of the filter. Each is one way to scan a list in its order. */
const indexed = ({ documentId, targetEntityId, userId }: Filter) =>
  Object.entries({ target_entity_id: targetEntityId, document_id: documentId, user_id: userId }).filter(
    (entry): entry is ['target_entity_id' | 'document_id' | 'user_id', string] => entry[1] !== undefined,
  )

type By = ReturnType<typeof indexed>[number]

/** One step of a scan, behind the cursor `after`. Without `by`, it goes through all activities of the organization. */
async function scanRows(
  query: Select,
  by: By | undefined,
  { limit, after, order }: Window,
): Promise<(ActivityPosition & { fits: boolean })[]> {
  let step = query.orderBy('timestamp', order).orderBy('activity_id', order).limit(limit)
  if (by) step = step.where(by[0], '=', by[1])
  if (after) {
    const behind = sql.raw(order === 'asc' ? '>' : '<')
    step = step.where(sql<boolean>`(timestamp, activity_id) ${behind} (${sql.join(after)})`)
  }
  return (await step.execute()).map((row) => ({ ...row, fits: row.fits === 1 }))
}

/** Decides which activities belong to the list of the caller. */
export type KeepActivities = Keep<ActivityPosition>

/** Finds the next activities that fit and that `keep` keeps, by timestamp, then id. */
export async function findPositions(
  db: Db,
  apiKey: string,
  filter: Filter,
  window: Window,
  scanning: Scanning,
  keep?: KeepActivities,
): Promise<Part<ActivityPosition>> {
  const { ids, featureTypes, actionTypes } = filter
  if ([ids, featureTypes, actionTypes].some((list) => list?.length === 0)) return { items: [] }
  const query = select(db, apiKey, filter).$if(keep !== undefined, (some) =>
    some.select('annotation_id as annotationId'),
  )
  if (ids) {
    const found = await scanning.query(() => withIds(query, ids))
    return { items: inWindow(keep ? await keep(found) : found, cursorOf, window) }
  }
  const ways: (By | undefined)[] = indexed(filter)
  if (ways.length === 0) ways.push(undefined)
  return scan(window, scanning, {
    steps: ways.map((by) => (step) => scanRows(query, by, step)),
    cursorOf,
    keep(rows) {
      const fitting = rows.filter((row) => row.fits)
      return keep ? keep(fitting) : fitting
    },
    rowsPerStep: rowsPerScan(db),
  })
}

async function withIds(query: Select, ids: readonly string[]): Promise<ActivityPosition[]> {
  // The indexes of lists do not contain `immutable`. Without it, SQLite would read all of such an index to find the ids.
  const rows = await query.select('immutable').where('activity_id', 'in', ids).execute()
  return rows.filter((row) => row.fits === 1)
}

/** The ids of the activities that fit and can be deleted, among these ids. */
export async function findDeletable(
  db: Db,
  apiKey: string,
  filter: Filter,
  ids: readonly string[],
): Promise<string[]> {
  const rows = await withIds(select(db, apiKey, filter, areDeletable(filter)), ids)
  return rows.map(({ key }) => key)
}

/**
 * The ids of the next activities that fit and can be deleted, at most `max`. Scans few rows. Returns `next` if there may be
 * more behind it.
 */
export async function someDeletable(
  db: Db,
  apiKey: string,
  filter: Filter,
  { max, after }: { max: number; after: Cursor | undefined },
): Promise<{ ids: string[]; next: Cursor | undefined }> {
  const limit = rowsPerScan(db)
  const [by] = indexed(filter)
  const query = select(db, apiKey, filter, areDeletable(filter))
  const rows = await scanRows(query, by, { limit, after, order: 'asc' })
  const deletable = rows.filter((row) => row.fits)
  const some = deletable.slice(0, max)
  const last = some.length < deletable.length ? some.at(-1) : rows.length === limit ? rows.at(-1) : undefined
  return { ids: some.map(({ key }) => key), next: last && cursorOf(last) }
}
