import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import type { Db } from './engine/db.ts'
import { oldestId } from './signing-keys.ts'

const place = sql<{ place: string }>`
  select concat_ws(' ', (select system_identifier from pg_control_system()), oid, current_schema()) as place
  from pg_database where datname = current_database()`

/** Some hosted databases do not have the function, or do not allow it. */
const refusals: ReadonlySet<string> = new Set(['42501', '42883'])

/**
 * An id that the servers of one PostgreSQL database share. A copy of the database has the same keys, but another place, unless
 * the whole PostgreSQL server was copied.
 */
export async function databaseId(db: Db): Promise<string> {
  const keyId = await oldestId(db)
  const { rows } = await place.execute(db).catch((error: unknown) => {
    if (!refusals.has((error as { code?: string }).code ?? '')) throw error
    return { rows: [] }
  })
  return createHash('sha256')
    .update(`${keyId} ${rows[0]?.place ?? ''}`)
    .digest('hex')
    .slice(0, 32)
}
