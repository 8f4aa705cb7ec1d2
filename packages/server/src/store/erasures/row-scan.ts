import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../engine/db.ts'
import { paceOf } from '../engine/pace.ts'
import { sqliteOf } from '../engine/prepared.ts'
import type { RowStep } from '../deletions/row-step.ts'
import type { Schema } from '../schema/schema.ts'

interface Scan<T extends keyof Schema, Key extends keyof Schema[T], Column extends keyof Schema[T]> {
  table: T
  /** The columns that the scan follows, after those in `where`: the rest of an index. */
  key: readonly (Key & string)[]
  /** Further columns to read. */
  columns: readonly (Column & string)[]
  /** The beginning of the same index. */
  where: RawBuilder<boolean>
  /** Rows that one step reads on SQLite. Rows with large columns are few. */
  rowsPerStep: number
  /** Changes or removes rows. `ofRow` is a condition for one of them. Returns `again` if it must see the same page again. */
  visit: (
    db: Db,
    rows: readonly Pick<Schema[T], Key | Column>[],
    ofRow: (row: Pick<Schema[T], Key>) => RawBuilder<boolean>,
  ) => Promise<'again' | undefined | void>
}

/** A step that reads all rows in the order of an index, for data that has no index by user. */
export function scanRows<
  T extends keyof Schema,
  Key extends keyof Schema[T],
  Column extends keyof Schema[T],
>({ table, key, columns, where, rowsPerStep, visit }: Scan<T, Key, Column>): RowStep {
  type Row = Pick<Schema[T], Key | Column>
  const keys = sql.join(key.map((column) => sql.ref(column)))
  const selected = sql.join([...key, ...columns].map((column) => sql.ref(column)))
  const ofRow = (row: Pick<Schema[T], Key>) =>
    sql<boolean>`${where} and (${keys}) = (${sql.join(key.map((column) => row[column]))})`
  return async (db, _ids, after) => {
    const limit = rowsPerStep * (sqliteOf(db) ? 1 : paceOf(db).factor)
    const behind = after ? sql`and (${keys}) > (${sql.join(after)})` : sql``
    const { rows } = await sql<Row>`
      select ${selected} from ${sql.table(table)} where ${where} ${behind}
      order by ${keys} limit ${sql.lit(limit)}`.execute(db)
    if ((await visit(db, rows, ofRow)) === 'again') return after ?? true
    const last = rows.at(-1)
    return rows.length === limit && last ? key.map((column) => last[column] as string | number) : false
  }
}
