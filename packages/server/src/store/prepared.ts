import type { Compilable, CompiledQuery } from 'kysely'
import type { Db } from './db.ts'
import { DirectSqliteAdapter } from './sqlite-driver.ts'

type Value = string | number | Uint8Array | null
type Values = Record<string, Value | readonly Value[]>

/** Stands in a built query where a value will be bound. */
class Parameter {
  readonly name: string
  readonly index: number | undefined

  constructor(name: string, index?: number) {
    this.name = name
    this.index = index
  }
}

/**
 * A query of the hot path, built and compiled once (for each database and each length of its lists) and then only bound:
 * building costs more than the read it builds.
 */
export function prepared<V extends Values, Row>(
  build: (db: Db, values: V) => Compilable<Row>,
): (db: Db, values: V) => Promise<Row[]> {
  const compiled = new Map<string, CompiledQuery<Row>>()

  return async (db, values) => {
    const { adapter } = db.getExecutor()
    const sqlite = adapter instanceof DirectSqliteAdapter ? adapter.connection : undefined
    let shape = sqlite ? 'sqlite' : 'postgres'
    for (const name in values) {
      const value = values[name]
      if (Array.isArray(value)) shape += ` ${value.length}`
    }
    let query = compiled.get(shape)
    if (!query) {
      query = build(db, placeholders(values)).compile()
      compiled.set(shape, query)
    }
    const parameters = query.parameters.map((parameter) => {
      if (!(parameter instanceof Parameter)) return parameter
      const value = values[parameter.name]
      return parameter.index === undefined ? value : (value as readonly Value[])[parameter.index]
    })
    if (sqlite) return sqlite.run<Row>(query.sql, parameters).rows
    return (await db.executeQuery<Row>({ ...query, parameters })).rows
  }
}

const placeholders = <V extends Values>(values: V): V =>
  Object.fromEntries(
    Object.entries(values).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.map((_, index) => new Parameter(name, index)) : new Parameter(name),
    ]),
  ) as unknown as V
