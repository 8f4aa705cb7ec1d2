import { type RawBuilder, sql } from 'kysely'
import type { Db } from './db.ts'
import { sqliteOf } from './prepared.ts'
import type { Table } from '../schema/tables.ts'

/**
 * A condition for at most `max` of the rows that match `which`. It names them by rowid or ctid, because neither database has
 * LIMIT for DELETE or UPDATE. `from` is the table, with an index hint if SQLite needs one.
 */
export function someRows(
  db: Db,
  table: Table,
  which: RawBuilder<boolean>,
  max: number,
  from: RawBuilder<unknown> = sql.table(table),
): RawBuilder<boolean> {
  const some = (id: string) => sql`select ${sql.ref(id)} from ${from} where ${which} limit ${sql.lit(max)}`
  return sqliteOf(db) ? sql`rowid in (${some('rowid')})` : sql`ctid = any(array(${some('ctid')}))`
}

/** Deletes at most `max` of the rows that match `which`. Returns how many it deleted. */
export async function deleteSome(
  db: Db,
  table: Table,
  which: RawBuilder<boolean>,
  max: number,
): Promise<number> {
  const { numAffectedRows } = await sql`
    delete from ${sql.table(table)} where ${someRows(db, table, which, max)}`.execute(db)
  return Number(numAffectedRows)
}
