import type { Cursor, Db } from '../engine/db.ts'
import { paceOf } from '../engine/pace.ts'

/**
 * Removes or moves a few rows, in a few milliseconds. Returns false if no rows are left. Returns true if there may be more,
 * or a cursor if there may be more behind it; the next call receives that cursor as `after`. Adds to `ids`: in a folder,
 * the documents that it has begun to remove; in a group, the users that it removed; the public ids of the notifications
 * that it removed, or from which it removed the user; the activities that it removed.
 */
export type RowStep = (db: Db, ids: string[], after: Cursor | undefined) => Promise<boolean | Cursor>

/** Where a removal continues. A transaction that runs again starts from the same position. */
export interface Position {
  /** The index of the step in the list. */
  step: number
  after?: Cursor
}

/**
 * Runs the steps from the position on, each until it has no rows left. Stops when the time of one transaction is over.
 * Returns the position for the next transaction, or undefined when all steps are done.
 */
export async function runSteps(
  db: Db,
  steps: readonly RowStep[],
  from: Position,
  ids: string[],
): Promise<Position | undefined> {
  const beganAt = performance.now()
  const { budgetMs } = paceOf(db)
  let { step: next, after } = from
  for (let step = steps[next]; step; step = steps[next]) {
    const rest = await step(db, ids, after)
    after = typeof rest === 'object' ? rest : undefined
    if (rest === false) next++
    if (performance.now() - beganAt > budgetMs) break
  }
  return next < steps.length ? { step: next, after } : undefined
}
