import type { Db } from '../engine/db.ts'

/**
 * Reserves documents that clients of an API key may then create by opening them. `max` limits the reservations of one day.
 * Returns how many of the wanted documents are reserved.
 */
export async function reserve(
  db: Db,
  apiKey: string,
  day: number,
  { wanted, max }: { wanted: number; max: number },
): Promise<number> {
  const row = await db
    .selectFrom('openings')
    .select(['day', 'documents'])
    .where('api_key', '=', apiKey)
    .executeTakeFirst()
  const taken = row?.day === day ? row.documents : 0
  const granted = Math.min(wanted, max - taken)
  if (granted <= 0) return 0
  const values = { day, documents: taken + granted }
  await db
    .insertInto('openings')
    .values({ api_key: apiKey, ...values })
    .onConflict((conflict) => conflict.column('api_key').doUpdateSet(values))
    .execute()
  return granted
}
