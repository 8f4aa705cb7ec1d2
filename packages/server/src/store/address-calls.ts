import { sql } from 'kysely'
import type { Db } from './engine/db.ts'

/**
 * Counts one call, and returns how many there were in the current window. The window of an address begins with its first call.
 * `addressHash` names the address and what it calls; the address itself is not stored.
 */
export async function count(
  db: Db,
  { addressHash, now, windowMs }: { addressHash: string; now: number; windowMs: number },
): Promise<{ calls: number; endsAt: number }> {
  const isOver = sql`address_calls.ends_at <= ${now}`
  const row = await db
    .insertInto('address_calls')
    .values({ address_hash: addressHash, calls: 1, ends_at: now + windowMs })
    .onConflict((conflict) =>
      conflict.column('address_hash').doUpdateSet({
        calls: sql<number>`case when ${isOver} then 1 else address_calls.calls + 1 end`,
        ends_at: sql<number>`case when ${isOver} then excluded.ends_at else address_calls.ends_at end`,
      }),
    )
    .returning(['calls', 'ends_at'])
    .executeTakeFirstOrThrow()
  return { calls: row.calls, endsAt: row.ends_at }
}

/** Deletes up to `maxRows` counts whose window is over. Returns how many it deleted. */
export async function prune(db: Db, now: number, maxRows: number): Promise<number> {
  const over = db
    .selectFrom('address_calls')
    .select('address_hash')
    .where('ends_at', '<=', now)
    .limit(maxRows)
  const { numDeletedRows } = await db
    .deleteFrom('address_calls')
    .where('address_hash', 'in', over)
    // The window may have begun again meanwhile.
    .where('ends_at', '<=', now)
    .executeTakeFirst()
  return Number(numDeletedRows)
}
