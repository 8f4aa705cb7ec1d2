import type { Compilable, CompiledQuery } from 'kysely'
import type { Db } from './db.ts'
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

/**
 * A query of the hot path. It is compiled once for each database and each length of its lists, because building a query costs
 * more than running it. Later calls only bind values.
 */
export function prepared<V extends Values, Row>(
  build: (db: Db, values: V) => Compilable<Row>,
): (db: Db, values: V) => Promise<Row[]> {
  const compiled = {
    sqlite: new Map<number, CompiledQuery<Row>>(),
    postgres: new Map<number, CompiledQuery<Row>>(),
  }

  return async (db, values) => {
    const sqlite = sqliteOf(db)
    const queries = sqlite ? compiled.sqlite : compiled.postgres
    const shape = shapeOf(values)
    let query = queries.get(shape)
    if (!query) {
      query = build(db, placeholders(values)).compile()
      queries.set(shape, query)
    }
    const parameters = bind(query, values)
    if (sqlite) return sqlite.run<Row>(query.sql, parameters).rows
    return (await db.executeQuery<Row>({ ...query, parameters })).rows
  }
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
