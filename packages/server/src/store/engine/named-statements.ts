import type pg from 'pg'
import { type RowMaker, rowMaker } from './row-maker.ts'

interface Statement {
  /** PostgreSQL parses and plans a named statement once per connection. Undefined: parsed for each query. */
  readonly name: string | undefined
  toRow?: RowMaker
}

/**
 * A named statement takes memory of each connection, so only the first 500 are named. The queries of the hot path are few
 * enough.
 */
const maxNamedStatements = 500
const maxNamedLength = 4000
const statements = new Map<string, Statement>()

function statementOf(sql: string): Statement {
  const known = statements.get(sql)
  if (known) return known
  if (statements.size >= maxNamedStatements || sql.length > maxNamedLength) return { name: undefined }
  const added = { name: `plenum${statements.size}` }
  statements.set(sql, added)
  return added
}

/** Sends a query of the hot path. */
export async function sendNamed<Row>(client: pg.ClientBase, sql: string, values: unknown[]): Promise<Row[]> {
  const { fields, rows } = await sendForArrays(client, sql, values)
  return rows.map(rowMakerOf(sql, fields)) as Row[]
}

/** As `sendNamed`, with rows as arrays of their values. */
export function sendForArrays(
  client: pg.ClientBase,
  text: string,
  values: unknown[],
): Promise<pg.QueryArrayResult<unknown[]>> {
  const { name } = statementOf(text)
  return client.query<unknown[]>({ ...(name !== undefined && { name }), text, values, rowMode: 'array' })
}

/** Returns the function that makes objects of the rows of this query. */
export function rowMakerOf(sql: string, fields: readonly pg.FieldDef[]): RowMaker {
  return (statementOf(sql).toRow ??= rowMaker(fields.map(({ name }) => name)))
}
