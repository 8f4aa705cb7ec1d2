import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../engine/db.ts'
import { paceOf } from '../engine/pace.ts'
import type { RowStep } from './row-step.ts'
import { areNotRemoved } from '../access/removed-grants.ts'
import { someRows } from '../engine/some-rows.ts'
import type { DocumentRef } from '../refs.ts'
import { sqliteOf } from '../engine/prepared.ts'
import { moveAnnotations } from '../comments/moved-annotations.ts'
import { type TableMovedInSteps, tablesMovedAtOnce } from '../schema/tables.ts'

/** One step moves this many rows on SQLite, in about 4 ms. */
const rowsPerStep = 200
/** Fewer, because SQLite writes the whole row again, and an activity has five indexes. */
const activitiesPerStep = 50

interface Move extends DocumentRef {
  apiKey: string
  newDocumentId: string
}

/** Moves the editors, live states and presence entries that the target does not have. */
export async function moveAtOnce(
  db: Db,
  { apiKey, organizationId, documentId, newDocumentId }: Move,
): Promise<void> {
  const inOrganization = sql<boolean>`api_key = ${apiKey} and organization_id = ${organizationId}`
  for (const { table, key, rowsPerUpdate } of tablesMovedAtOnce) {
    const targetHasRow = sql`
      exists (
        select 1 from ${sql.table(table)} as there
        where there.api_key = ${apiKey} and there.organization_id = ${organizationId}
          and there.document_id = ${newDocumentId} and there.${sql.ref(key)} = ${sql.ref(`${table}.${key}`)}
      )`
    const which = sql<boolean>`${inOrganization} and document_id = ${documentId} and not ${targetHasRow}`
    const move = (rows: RawBuilder<boolean>) =>
      sql`update ${sql.table(table)} set document_id = ${newDocumentId} where ${rows}`.execute(db)
    if (sqliteOf(db))
      await repeatUntilDone(rowsPerUpdate, () => move(someRows(db, table, which, rowsPerUpdate)))
    else await move(which)
  }
}

/** Repeats a statement until it changes fewer rows than its limit. */
async function repeatUntilDone(
  rowsPerUpdate: number,
  change: () => Promise<{ numAffectedRows?: bigint }>,
): Promise<void> {
  for (;;) {
    const { numAffectedRows = 0n } = await change()
    if (numAffectedRows < rowsPerUpdate) return
  }
}

/** Steps that move rows of a document to another one, from the tables where a document may have very many rows. */
export function moveSteps(move: Move): RowStep[] {
  const { apiKey, organizationId, documentId, newDocumentId } = move
  const inOrganization = sql<boolean>`api_key = ${apiKey} and organization_id = ${organizationId}`
  const ofDocument = (id: string) => sql<boolean>`${inOrganization} and document_id = ${id}`
  const granted = (id: string) =>
    sql<boolean>`${inOrganization} and resource_type = 'document' and resource_id = ${id}`
  const steps: Record<TableMovedInSteps | 'grants', RowStep> = {
    // A grant of the source replaces the removal of the same user from the target. Removals from the source do not move.
    grants: moveByUser(
      'grants',
      sql`set resource_id = ${newDocumentId}`,
      granted(documentId),
      granted(newDocumentId),
      areNotRemoved,
    ),
    notification_configs: moveByUser(
      'notification_configs',
      sql`set document_id = ${newDocumentId}`,
      ofDocument(documentId),
      ofDocument(newDocumentId),
    ),
    annotations: moveAnnotations(move),
    notifications: moveAll('notifications', rowsPerStep, move),
    pending_notifications: moveAll('pending_notifications', rowsPerStep, move),
    activities: moveAll('activities', activitiesPerStep, move),
    events: moveAll('events', rowsPerStep, move),
  }
  // On PostgreSQL, the transaction that moved the document does not see an editor that was created at the same time.
  const moveLate: RowStep = async (db) => {
    await moveAtOnce(db, move)
    return false
  }
  return [moveLate, ...Object.values(steps)]
}

/** A step that moves all rows of a table in which the target cannot have the same rows. */
const moveAll =
  (
    table: 'notifications' | 'pending_notifications' | 'activities' | 'events',
    rowsPerStep: number,
    { apiKey, organizationId, documentId, newDocumentId }: Move,
  ): RowStep =>
  async (db) => {
    const max = rowsPerStep * paceOf(db).factor
    const which = sql<boolean>`
      api_key = ${apiKey} and organization_id = ${organizationId} and document_id = ${documentId}`
    const { numAffectedRows = 0n } = await sql`
      update ${sql.table(table)} set document_id = ${newDocumentId}
      where ${someRows(db, table, which, max)}`.execute(db)
    return Number(numAffectedRows) === max
  }

/**
 * A step that moves the rows of users who have no row in the target. Rows that do not match `relevant` do not move, and in
 * the target they are replaced.
 */
const moveByUser =
  (
    table: 'grants' | 'notification_configs',
    setTarget: RawBuilder<unknown>,
    from: RawBuilder<boolean>,
    to: RawBuilder<boolean>,
    relevant = sql<boolean>`1 = 1`,
  ): RowStep =>
  async (db, _, after) => {
    const max = rowsPerStep * paceOf(db).factor
    const name = sql.table(table)
    const { rows } = await sql<{ user_id: string; is_there: number }>`
      select user_id,
        case when exists (
          select 1 from ${name} as there where ${to} and there.user_id = ${sql.ref(`${table}.user_id`)} and ${relevant}
        ) then 1 else 0 end as is_there
      from ${name} where ${from} and ${relevant} and user_id > ${after?.[0] ?? ''}
      order by user_id limit ${sql.lit(max)}`.execute(db)
    const moving = rows.filter((row) => row.is_there === 0).map((row) => row.user_id)
    if (moving.length > 0) {
      const ofThem = sql`user_id in (${sql.join(moving)})`
      await sql`delete from ${name} where ${to} and ${ofThem}`.execute(db)
      await sql`update ${name} ${setTarget} where ${from} and ${ofThem}`.execute(db)
    }
    const last = rows.at(-1)
    return last && rows.length === max ? [last.user_id] : false
  }
