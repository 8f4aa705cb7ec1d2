import { type RawBuilder, sql } from 'kysely'
import { hasBytes, type Table } from '../schema/tables.ts'
import type { Db } from './db.ts'

/** One transaction may remove this many rows and bytes, in about 10 ms on SQLite. */
const maxRemoved = { rows: 500, bytes: 2 * 1024 * 1024 }

/** A query that counts rows and their bytes. It stops after the first row above the limit. */
export type Size = RawBuilder<{ rows: number; bytes: number }>

/** Where a count stops: one row above the limit is enough to see that there are too many. */
export const countedRows = sql.lit(maxRemoved.rows + 1)

/** The size of the rows that match `which`. `from` is the table, with an index hint if SQLite needs one. */
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
