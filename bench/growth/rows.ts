import { type RawBuilder, sql } from 'kysely'
import type { Database } from '../../packages/server/src/store/engine/db.ts'
import type { Table } from '../../packages/server/src/store/schema/tables.ts'
import { progress } from '../report.ts'

/** Above this number, the product of the number and `idFactor` is no exact integer in JavaScript. */
export const maxRows = 3_000_000
/** An odd factor gives every number another id. The ids are in no order, like those of a real product. */
const idFactor = 2_654_435_761
const idRange = 2 ** 32
const rowsPerStatement = 100_000

/** The id of the copy with this number. `Rows.id` is the same in SQL. */
export const idOf = (number: number): string => ((number * idFactor) % idRange).toString(16).padStart(8, '0')

export const randomIdOf = (copyCount: number): string => idOf(1 + Math.floor(Math.random() * copyCount))

/** Values of columns that differ from the copied row. In SQL, `i` is the number of the copy, from 1. */
type Changes = Record<string, RawBuilder<unknown>>

/** Fills the database of a stopped server: copies rows that the server has written, with other ids. */
export class Rows {
  readonly database: Database
  readonly #title: string
  /** The id of the copy with the number `i`. */
  readonly id: RawBuilder<string>

  constructor(database: Database, title: string) {
    this.database = database
    this.#title = title
    const number = sql.raw(`i * ${idFactor} % ${idRange}`)
    this.id =
      database.dialect === 'sqlite'
        ? sql<string>`printf('%08x', ${number})`
        : sql<string>`lpad(to_hex(${number}), 8, '0')`
  }

  async find(table: Table, which: Record<string, string>): Promise<Record<string, unknown>> {
    const { rows } = await sql<Record<string, unknown>>`
      select * from ${sql.table(table)} where ${matches(which)}`.execute(this.database.read)
    const [row] = rows
    if (!row) throw new Error(`The server has written no row into ${table} with ${JSON.stringify(which)}.`)
    return row
  }

  /** Inserts `count` copies of each row that matches `which`. A copy for which `onlyIf` is false is left out. */
  async copy(
    table: Table,
    which: Record<string, string>,
    changes: Changes,
    count: number,
    onlyIf: RawBuilder<unknown> = sql`1 = 1`,
  ): Promise<void> {
    const columns = Object.keys(await this.find(table, which))
    const values = columns.map((column) => changes[column] ?? sql.ref(`original.${column}`))
    for (let from = 1; from <= count; from += rowsPerStatement) {
      const to = Math.min(count, from + rowsPerStatement - 1)
      await this.database.write(async (db) => {
        if (this.database.dialect === 'sqlite') await sql`pragma cache_size = -1000000`.execute(db)
        // Without the checks of foreign keys, which take most of the time: the copies are known to be consistent.
        else await sql`set local session_replication_role = 'replica'`.execute(db)
        await sql`
          with recursive
            original as (select * from ${sql.table(table)} where ${matches(which)}),
            numbers(i) as (
              select ${sql.lit(from)} union all select i + 1 from numbers where i < ${sql.lit(to)})
          insert into ${sql.table(table)} (${sql.join(columns.map((column) => sql.ref(column)))})
          select ${sql.join(values)} from original cross join numbers where ${onlyIf}`.execute(db)
      })
      if (count >= rowsPerStatement) {
        progress(`${this.#title}: ${to.toLocaleString('en')} rows of ${table} written`)
      }
    }
  }
}

const matches = (which: Record<string, string>) =>
  sql.join(
    Object.entries(which).map(([column, value]) => sql`${sql.ref(column)} = ${value}`),
    sql` and `,
  )

/** Spreads the copies around the time of the original, so that a page token after the original points to the middle. */
export const around = (column: string, count: number): RawBuilder<unknown> =>
  sql`${sql.ref(`original.${column}`)} + i - ${sql.lit(Math.ceil(count / 2))}`

/** A condition for about `wanted` of `count` copies. Another `offset` chooses other copies. */
export const someOf = (count: number, wanted: number, offset = 0): RawBuilder<boolean> =>
  sql<boolean>`i % ${sql.lit(Math.max(1, Math.round(count / wanted)))} = ${sql.lit(offset)}`
