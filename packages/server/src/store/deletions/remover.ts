import type { Cursor, Db } from '../engine/db.ts'
import { paceOf } from '../engine/pace.ts'

/**
 * Removes a few rows, in a few milliseconds. Returns true if there may be more rows. Returns a cursor if there may be more
 * rows behind it; the next call receives it as `after`. Adds to `ids` the documents of a folder that lost rows, and the
 * members and notifications that were removed.
 */
export type Remover = (db: Db, ids: string[], after: Cursor | undefined) => Promise<boolean | Cursor>

/** Where a removal continues. A transaction that runs again starts from the same position. */
export interface Position {
  remover: number
  after?: Cursor
}

/** Runs removers from the position on, as long as one transaction may take. Returns undefined when nothing is left. */
export async function removeSome(
  db: Db,
  removers: readonly Remover[],
  from: Position,
  ids: string[],
): Promise<Position | undefined> {
  const beganAt = performance.now()
  const { budgetMs } = paceOf(db)
  let { remover: next, after } = from
  for (let remover = removers[next]; remover; remover = removers[next]) {
    const rest = await remover(db, ids, after)
    after = typeof rest === 'object' ? rest : undefined
    if (rest === false) next++
    if (performance.now() - beganAt > budgetMs) break
  }
  return next < removers.length ? { remover: next, after } : undefined
}
