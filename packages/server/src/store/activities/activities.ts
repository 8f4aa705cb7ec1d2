import { ApiError } from '@plenum/protocol'
import { type SelectQueryBuilder, sql } from 'kysely'
import { yieldIfLate } from '../../platform/turns/loop-time.ts'
import type { Cursor, Db } from '../engine/db.ts'
import { mergeKeys, stringifyData } from '../engine/json.ts'
import { inLockOrder } from '../engine/lock-order.ts'
import { paceOf } from '../engine/pace.ts'
import { slices } from '../engine/slices.ts'
import { someRows } from '../engine/some-rows.ts'
import type { Schema } from '../schema/schema.ts'
import { tables } from '../schema/tables.ts'
import {
  areMutable,
  type Content,
  type Filter,
  findDeletable,
  findMany,
  someDeletable,
  type StoredActivity,
} from './lists.ts'

/** Activities that one statement reads or writes. Each may have 16 KiB. */
const activitiesPerStatement = 50

/**
 * Adds activities, each with its own id. One with an existing id overwrites the stored activity, which keeps its timestamp
 * and its audience. Throws if the stored activity is immutable.
 */
export async function add(
  db: Db,
  apiKey: string,
  organizationId: string,
  activities: readonly StoredActivity[],
): Promise<void> {
  const rows = inLockOrder(activities, ({ id }) => id)
  for (const some of slices(rows, activitiesPerStatement)) {
    await yieldIfLate()
    const stored = await db
      .insertInto('activities')
      .values(some.map((activity) => rowOf(apiKey, organizationId, activity)))
      .onConflict((conflict) =>
        conflict
          .columns(['api_key', 'organization_id', 'activity_id'])
          .doUpdateSet((eb) => ({
            document_id: eb.ref('excluded.document_id'),
            feature_type: eb.ref('excluded.feature_type'),
            action_type: eb.ref('excluded.action_type'),
            user_id: eb.ref('excluded.user_id'),
            target_entity_id: eb.ref('excluded.target_entity_id'),
            data: eb.ref('excluded.data'),
          }))
          .where('activities.immutable', '=', 0),
      )
      .returning('activity_id')
      .execute()
    if (stored.length < some.length) throw new ApiError('FAILED_PRECONDITION', 'Activity is immutable.')
  }
}

const rowOf = (apiKey: string, organizationId: string, activity: StoredActivity): Schema['activities'] => ({
  api_key: apiKey,
  organization_id: organizationId,
  activity_id: activity.id,
  document_id: activity.documentId,
  timestamp: activity.timestamp,
  feature_type: activity.featureType,
  action_type: activity.actionType,
  user_id: activity.content.actionUser.userId,
  target_entity_id: activity.targetEntityId ?? null,
  annotation_id: activity.annotationId ?? null,
  audience: activity.audience ? JSON.stringify(activity.audience) : null,
  immutable: activity.immutable ? 1 : 0,
  data: stringifyData(activity.content, `activity ${activity.id}`),
})

/** Merges the keys into the contents of the activities that exist and are not immutable. Returns their ids. */
export async function update(
  db: Db,
  apiKey: string,
  organizationId: string,
  changes: ReadonlyMap<string, Partial<Content>>,
): Promise<ReadonlySet<string>> {
  const updated = new Set<string>()
  for (const ids of slices(
    inLockOrder(changes.keys(), (id) => id),
    activitiesPerStatement,
  )) {
    for (const { id, immutable, content } of await findMany(db, apiKey, organizationId, ids)) {
      if (immutable) continue
      await yieldIfLate()
      await db
        .updateTable('activities')
        .set({ data: stringifyData(mergeKeys({ ...content }, { ...changes.get(id) }), `activity ${id}`) })
        .where('api_key', '=', apiKey)
        .where('organization_id', '=', organizationId)
        .where('activity_id', '=', id)
        .execute()
      updated.add(id)
    }
  }
  return updated
}

/** Removes the activities that fit and are not immutable. Returns their ids. */
export async function remove(db: Db, apiKey: string, filter: Filter): Promise<string[]> {
  const removed: string[] = []
  if (filter.ids) {
    const found = await findDeletable(db, apiKey, filter, filter.ids)
    for (const ids of slices(found, activitiesPerStatement)) {
      await removeByIds(db, apiKey, filter.organizationId, ids)
      removed.push(...ids)
    }
    return removed
  }
  for (let after: Cursor | undefined; ;) {
    const { ids, next } = await removeSome(db, apiKey, filter, after)
    removed.push(...ids)
    if (!next) return removed
    after = next
  }
}

/** Removes a few of the activities that fit and are not immutable. Returns their ids, and `next` if there may be more. */
export async function removeSome(
  db: Db,
  apiKey: string,
  filter: Filter,
  after: Cursor | undefined,
): Promise<{ ids: string[]; next: Cursor | undefined }> {
  const max = tables.activities.rowsPerDelete * paceOf(db).factor
  const { ids, next } = await someDeletable(db, apiKey, filter, { max, after })
  if (ids.length > 0) await removeByIds(db, apiKey, filter.organizationId, ids)
  return { ids, next }
}

async function removeByIds(
  db: Db,
  apiKey: string,
  organizationId: string,
  ids: readonly string[],
): Promise<void> {
  await yieldIfLate()
  await db
    .deleteFrom('activities')
    .where('api_key', '=', apiKey)
    .where('organization_id', '=', organizationId)
    .where('activity_id', 'in', ids)
    .execute()
}

/** Removes the activities of documents that are deleted, except immutable ones (spec 10.4.1). */
export async function removeOfDocuments(
  db: Db,
  apiKey: string,
  organizationId: string,
  documentIds: readonly string[] | SelectQueryBuilder<Schema, 'documents', { document_id: string }>,
): Promise<void> {
  const ids = Array.isArray(documentIds) ? sql.join(documentIds) : documentIds
  const which = sql<boolean>`
    api_key = ${apiKey} and organization_id = ${organizationId} and document_id in (${ids})
    and ${areMutable}`
  const max = tables.activities.rowsPerDelete * paceOf(db).factor
  for (let removed = max; removed === max;) {
    await yieldIfLate()
    const { numAffectedRows = 0n } = await sql`
      delete from activities where ${someRows(db, 'activities', which, max)}`.execute(db)
    removed = Number(numAffectedRows)
  }
}
