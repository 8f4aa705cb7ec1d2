import { sql } from 'kysely'
import { batched } from '../store/engine/batched.ts'
import type { Db } from '../store/engine/db.ts'
import { currentTransactionId } from '../store/event-log.ts'
import type { Row } from './row-pages.ts'
import type { StoredTable } from './stored-tables.ts'

/**
 * Makes the function that inserts rows with these columns. With `returns`, it returns the rows as the database has stored
 * them. Events without a position get the next ones of the log.
 */
export function inserterFor(
  name: StoredTable['name'],
  columns: StoredTable['columns'],
  { returns = false } = {},
): (db: Db, rows: readonly Row[]) => Promise<Row[]> {
  const names = Object.keys(columns)
  const listed = sql.join(names.map((column) => sql.ref(column)))
  const needsPosition = name === 'events' && !names.includes('transaction_id')
  return batched(columns, ({ row, fromRows, isPostgres }) => {
    const values = sql.join(names.map((column) => row[column]))
    return sql<Row>`
      insert into ${sql.table(name)} (${listed}${needsPosition ? sql`, transaction_id` : sql``})
      select ${values}${needsPosition ? sql`, ${currentTransactionId(isPostgres)}` : sql``} ${fromRows}
      ${returns ? sql`returning ${listed}` : sql``}`
  })
}
