import { type CompiledQuery, type RawBuilder, sql } from 'kysely'
import type { Db } from './db.ts'
import { bind, Parameter, runOnPostgres, sqliteOf, type Value } from './prepared.ts'

export type ColumnType = 'text' | 'bigint' | 'bytea'

/** The parts of a statement: the SQL of each column of a row, and the `from` clause of the rows, which is empty on SQLite. */
export interface StatementParts<Column extends string> {
  row: Readonly<Record<Column, RawBuilder<unknown>>>
  fromRows: RawBuilder<unknown>
  isPostgres: boolean
}

/**
 * A statement of the hot path for many rows, compiled once. PostgreSQL receives up to `maxRowsPerStatement` rows at a time, as
 * one array per column. SQLite runs in this process, so it executes the statement once per row.
 */
export function batched<Column extends string, Result = never>(
  columns: Readonly<Record<Column, ColumnType>>,
  build: (parts: StatementParts<Column>) => RawBuilder<Result>,
): (db: Db, rows: readonly Record<Column, Value>[]) => Promise<Result[]> {
  const names = Object.keys(columns) as Column[]
  const compiled: { sqlite?: CompiledQuery<Result>; postgres?: CompiledQuery<Result> } = {}

  const byRow = (): StatementParts<Column> => ({
    row: record(names, (name) => sql`${new Parameter(name)}`),
    fromRows: sql``,
    isPostgres: false,
  })
  const byArray = (): StatementParts<Column> => {
    const arrays = names.map((name) => sql`${new Parameter(name)}::${sql.raw(columns[name])}[]`)
    const aliases = names.map((name) => sql.ref(name))
    return {
      row: record(names, (name) => sql.ref(`r.${name}`)),
      fromRows: sql`from unnest(${sql.join(arrays)}) as r(${sql.join(aliases)})`,
      isPostgres: true,
    }
  }

  return async (db, rows) => {
    if (rows.length === 0) return []
    const sqlite = sqliteOf(db)
    if (sqlite) {
      const query = (compiled.sqlite ??= build(byRow()).compile(db))
      return rows.flatMap((row) => sqlite.run<Result>(query.sql, bind(query, row)).rows)
    }
    const query = (compiled.postgres ??= build(byArray()).compile(db))
    const results: Result[] = []
    for (const batch of inBatches(rows)) {
      const values = record(names, (name) => batch.map((row) => row[name]))
      results.push(...(await runOnPostgres(db, query, bind(query, values))))
    }
    return results
  }
}

/**
 * The limits of one statement to PostgreSQL. Bytes in arrays are sent as text of twice their length: 1 MiB holds the event
 * loop for 5 to 10 ms.
 */
const maxRowsPerStatement = 5000
const maxBytesPerStatement = 1024 * 1024

function* inBatches<Row extends Record<string, Value>>(rows: readonly Row[]): Generator<readonly Row[]> {
  let start = 0
  let bytes = 0
  for (const [index, row] of rows.entries()) {
    const size = sizeOf(row)
    if (index > start && (bytes + size > maxBytesPerStatement || index - start === maxRowsPerStatement)) {
      yield rows.slice(start, index)
      start = index
      bytes = 0
    }
    bytes += size
  }
  yield rows.slice(start)
}

const sizeOf = (row: Record<string, Value>) =>
  Object.values(row).reduce<number>((sum, value) => sum + (value instanceof Uint8Array ? value.length : 0), 0)

const record = <Name extends string, T>(names: readonly Name[], valueOf: (name: Name) => T) =>
  Object.fromEntries(names.map((name) => [name, valueOf(name)])) as Record<Name, T>
