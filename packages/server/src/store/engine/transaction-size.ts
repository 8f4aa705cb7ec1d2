import { type RawBuilder, sql } from 'kysely'
import { hasBytes, type Table } from '../schema/tables.ts'
import type { Db } from './db.ts'

/** What one transaction may remove: about 10 ms of SQLite. */
const maxRemoved = { rows: 500, bytes: 2 * 1024 * 1024 }

/** A query that counts rows and their bytes, up to the first row too many. */
export type Size = RawBuilder<{ rows: number; bytes: number }>

/** One more than fit, so that a count above the limit is recognized however many rows there are. */
export const countedRows = sql.lit(maxRemoved.rows + 1)

/** The rows of a table that match. `from` names the table with an index to use. */
export function sizeOf(
  table: Table,
  which: RawBuilder<unknown>,
  from: RawBuilder<unknown> = sql.table(table),
): Size {
  return hasBytes(table)
    ? sql`
        select count(*) as rows, coalesce(sum(length(bytes)), 0) as bytes
        from (select bytes from ${from} where ${which} limit ${countedRows}) as found`
    : sql`
        select count(*) as rows, 0 as bytes from (select 1 from ${from} where ${which} limit ${countedRows}) as found`
}

/** Whether one transaction may remove all of these rows. */
export async function fitOneTransaction(db: Db, sizes: readonly Size[]): Promise<boolean> {
  // PostgreSQL returns sums as text.
  const { rows } = await sql<{ rows: number | string; bytes: number | string }>`
    select sum(rows) as rows, sum(bytes) as bytes from (${sql.join(sizes, sql` union all `)}) as sizes`.execute(
    db,
  )
  const [size = { rows: 0, bytes: 0 }] = rows
  return Number(size.rows) <= maxRemoved.rows && Number(size.bytes) <= maxRemoved.bytes
}
