import { sql } from 'kysely'
import type { Position } from '../deletions/row-step.ts'
import type { Db } from '../engine/db.ts'
import { deleteSome } from '../engine/some-rows.ts'
import { parse } from '../engine/json.ts'
import type { ErasureTable } from '../schema/erasure-tables.ts'

/** How long a completed erasure can be read. */
const retentionMs = 30 * 24 * 60 * 60 * 1000

/** Where an erasure continues. It goes through organizations, then through what belongs to no organization. */
export interface ErasurePosition extends Position {
  /** Undefined: all organizations are done. */
  organizationId: string | undefined
}

export interface Erasure {
  erasureId: string
  /** Empty: all rows are erased. */
  userIds: readonly string[]
  /** Undefined: all organizations. */
  organizationIds: readonly string[] | undefined
  /** Undefined: the erasure has not begun. */
  position: ErasurePosition | undefined
  tasksLeft: number
  lastTaskCompletedAt: number | null
  isCompleted: boolean
}

const rowOf = (db: Db, apiKey: string, erasureId: string) => ({
  select: () =>
    db.selectFrom('erasures').selectAll().where('api_key', '=', apiKey).where('erasure_id', '=', erasureId),
  update: (columns: Partial<ErasureTable>) =>
    db
      .updateTable('erasures')
      .set(columns)
      .where('api_key', '=', apiKey)
      .where('erasure_id', '=', erasureId)
      .execute(),
})

/** Records an erasure. Returns the number of its tasks: one for each user and organization. */
export async function add(
  db: Db,
  apiKey: string,
  { erasureId, userIds, organizationIds }: Pick<Erasure, 'erasureId' | 'userIds' | 'organizationIds'>,
  now: number,
): Promise<number> {
  const organizations = organizationIds?.length ?? (await countOrganizations(db, apiKey))
  const tasks = userIds.length * organizations
  await db
    .insertInto('erasures')
    .values({
      api_key: apiKey,
      erasure_id: erasureId,
      user_ids: JSON.stringify(userIds),
      organization_ids: organizationIds ? JSON.stringify(organizationIds) : null,
      position: null,
      tasks_count: tasks,
      tasks_left: tasks,
      last_task_completed_at: null,
      completed_at: null,
      created_at: now,
    })
    .execute()
  return tasks
}

async function countOrganizations(db: Db, apiKey: string): Promise<number> {
  const { count } = await db
    .selectFrom('organizations')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('api_key', '=', apiKey)
    .executeTakeFirstOrThrow()
  return count
}

export async function find(db: Db, apiKey: string, erasureId: string): Promise<Erasure | undefined> {
  const row = await rowOf(db, apiKey, erasureId).select().executeTakeFirst()
  return (
    row && {
      erasureId,
      userIds: parse(row.user_ids),
      organizationIds: row.organization_ids === null ? undefined : parse(row.organization_ids),
      position: row.position === null ? undefined : parse(row.position),
      tasksLeft: row.tasks_left,
      lastTaskCompletedAt: row.last_task_completed_at,
      isCompleted: row.completed_at !== null,
    }
  )
}

export async function savePosition(
  db: Db,
  apiKey: string,
  { erasureId }: Erasure,
  position: ErasurePosition,
): Promise<void> {
  await rowOf(db, apiKey, erasureId).update({ position: JSON.stringify(position) })
}

/** Counts the tasks of one organization as done. The last ones are done when the whole erasure is complete. */
export async function completeTasks(
  db: Db,
  apiKey: string,
  { erasureId, tasksLeft, userIds: { length } }: Erasure,
  now: number,
): Promise<void> {
  if (tasksLeft <= length) return
  await rowOf(db, apiKey, erasureId).update({
    tasks_left: tasksLeft - length,
    last_task_completed_at: now,
  })
}

/** The record forgets whose data was erased. From then on no row names the users. */
export async function forgetUsers(
  db: Db,
  apiKey: string,
  { erasureId }: Pick<Erasure, 'erasureId'>,
): Promise<void> {
  await rowOf(db, apiKey, erasureId).update({ user_ids: '[]', position: null })
}

/** Ends the erasure. */
export async function complete(
  db: Db,
  apiKey: string,
  { erasureId }: Pick<Erasure, 'erasureId'>,
  now: number,
): Promise<void> {
  await rowOf(db, apiKey, erasureId).update({
    tasks_left: 0,
    last_task_completed_at: now,
    completed_at: now,
  })
}

/** The next organization of the erasure. Without a limit: the next one that is stored, or that a grant or a preference names. */
export async function nextOrganization(
  db: Db,
  apiKey: string,
  { organizationIds }: Erasure,
  after: string,
): Promise<string | undefined> {
  if (organizationIds) return organizationIds.find((id) => id > after)
  const found: string[] = []
  for (const table of ['organizations', 'grants', 'notification_configs'] as const) {
    const row = await db
      .selectFrom(table)
      .select('organization_id')
      .where('api_key', '=', apiKey)
      .where('organization_id', '>', after)
      .orderBy('organization_id')
      .limit(1)
      .executeTakeFirst()
    if (row) found.push(row.organization_id)
  }
  return found.sort(inByteOrder)[0]
}

/** The order in which both databases compare ids. */
const inByteOrder = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b))

/** Removes erasures of every tenant that ended long ago, at most `maxRows`. Returns their number. */
export const prune = (db: Db, now: number, maxRows: number): Promise<number> =>
  deleteSome(db, 'erasures', sql`completed_at < ${now - retentionMs}`, maxRows)
