import type { Compilable, CompiledQuery } from 'kysely'
import type { Db } from './db.ts'
import { DirectPostgresAdapter } from './direct-queries.ts'
import { DirectSqliteAdapter, type SqliteConnection } from './sqlite-driver.ts'

export type Value = string | number | Uint8Array | null
type Values = Record<string, Value | readonly Value[]>

/** The placeholder of a value in a compiled query. */
export class Parameter {
  readonly name: string
  readonly index: number | undefined

  constructor(name: string, index?: number) {
    this.name = name
    this.index = index
  }

  of(values: Values): unknown {
    const value = values[this.name]
    return this.index === undefined ? value : (value as readonly Value[])[this.index]
  }
}

export const bind = ({ parameters }: CompiledQuery, values: Values): unknown[] =>
  parameters.map((one) => (one instanceof Parameter ? one.of(values) : one))

/** Returns the SQLite connection, on which queries run synchronously, or undefined on PostgreSQL. */
export function sqliteOf(db: Db): SqliteConnection | undefined {
  const { adapter } = db.getExecutor()
  return adapter instanceof DirectSqliteAdapter ? adapter.connection : undefined
}

/** Runs a compiled query of the hot path on PostgreSQL. */
export async function runOnPostgres<Row>(
  db: Db,
  query: CompiledQuery<Row>,
  values: unknown[],
  isSmallRead = false,
): Promise<Row[]> {
  const { adapter } = db.getExecutor()
  if (adapter instanceof DirectPostgresAdapter) {
    return adapter.queries.run<Row>({ sql: query.sql, isSmallRead }, values)
  }
  return (await db.executeQuery<Row>({ ...query, parameters: values })).rows
}

interface PreparedOptions {
  /**
   * Whether the query is a read whose rows are few and small when its lists are short, so that reads can share a statement.
   * Its values must be strings, or integers that are never null.
   */
  isSmallRead?: boolean
}

interface Compiled<Row> {
  query: CompiledQuery<Row>
  isSmall: boolean
}

/** A read with more values in its lists has more rows, so it does not share a statement. */
const maxIdsOfSmallRead = 4

/**
 * A query of the hot path. It is compiled once for each database and each length of its lists, because building a query costs
 * more than running it. Later calls only bind values.
 */
export function prepared<V extends Values, Row>(
  build: (db: Db, values: V) => Compilable<Row>,
  { isSmallRead = false }: PreparedOptions = {},
): (db: Db, values: V) => Promise<Row[]> {
  const compiled = { sqlite: new Map<number, Compiled<Row>>(), postgres: new Map<number, Compiled<Row>>() }

  return async (db, values) => {
    const sqlite = sqliteOf(db)
    const queries = sqlite ? compiled.sqlite : compiled.postgres
    const shape = shapeOf(values)
    let known = queries.get(shape)
    if (!known) {
      const query = build(db, placeholders(values)).compile()
      known = {
        query: sqlite ? query : withoutRepeatedParameters(query),
        isSmall: isSmallRead && countIds(values) <= maxIdsOfSmallRead,
      }
      queries.set(shape, known)
    }
    const { query, isSmall } = known
    const parameters = bind(query, values)
    return sqlite
      ? sqlite.run<Row>(query.sql, parameters).rows
      : runOnPostgres(db, query, parameters, isSmall)
  }
}

/** Sends a value once, even if the query names it several times. */
function withoutRepeatedParameters<Row>(query: CompiledQuery<Row>): CompiledQuery<Row> {
  const parameters: unknown[] = []
  const numbers = new Map<unknown, number>()
  const sql = query.sql.replaceAll(/\$(\d+)/g, (_, n) => {
    const one = query.parameters[Number(n) - 1]
    const key = one instanceof Parameter ? `${one.name} ${one.index}` : Symbol()
    const number = numbers.get(key) ?? parameters.push(one)
    numbers.set(key, number)
    return `$${number}`
  })
  return { ...query, sql, parameters }
}

/** How many values the lists have. */
function countIds(values: Values): number {
  let count = 0
  for (const name in values) {
    const value = values[name]
    if (Array.isArray(value)) count += value.length
  }
  return count
}

/** The lengths of the lists as one number. Each length must be below 1024. */
function shapeOf(values: Values): number {
  let shape = 0
  for (const name in values) {
    const value = values[name]
    if (Array.isArray(value)) shape = shape * 1024 + value.length
  }
  return shape
}

const placeholders = <V extends Values>(values: V): V =>
  Object.fromEntries(
    Object.entries(values).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.map((_, index) => new Parameter(name, index)) : new Parameter(name),
    ]),
  ) as unknown as V
