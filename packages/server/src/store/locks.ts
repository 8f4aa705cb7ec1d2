import type { Db } from './engine/db.ts'
import { sqliteOf } from './engine/prepared.ts'

const retentionMs = 24 * 60 * 60 * 1000

/**
 * Removes up to `maxRows` locks that no transaction has taken for a day. Returns how many it removed. The next transaction that
 * takes such a lock adds its row again, and others wait for that row.
 */
export async function prune(db: Db, now: number, maxRows: number): Promise<number> {
  // On SQLite there are none.
  if (sqliteOf(db)) return 0
  const { numDeletedRows } = await db
    .deleteFrom('locks')
    .where('name', 'in', (eb) =>
      eb
        .selectFrom('locks')
        .select('name')
        .where('taken_at', '<', now - retentionMs)
        .limit(maxRows)
        .forUpdate()
        .skipLocked(),
    )
    .executeTakeFirst()
  return Number(numDeletedRows)
}
