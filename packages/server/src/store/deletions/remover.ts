import type { Cursor, Db } from '../engine/db.ts'
import { paceOf } from '../engine/pace.ts'

/**
 * Removes some rows, few enough to take no more than a few milliseconds. True: there may be more; a cursor: there may be
 * more behind it, and the next call gets it as `after`. `ids` gets the documents of a folder that lost something, and the
 * members and notifications that were removed.
 */
export type Remover = (db: Db, ids: string[], after: Cursor | undefined) => Promise<boolean | Cursor>

/** Where a removal goes on. A transaction that runs again begins at the same place again. */
export interface Position {
  remover: number
  after?: Cursor
}

/** Runs removers from the position on, for as long as one transaction may take. Undefined: nothing is left. */
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
