import { sql } from 'kysely'
import type { TestServer } from '../harness.ts'

/** Reads all rows of all tables of a server on SQLite. */
export async function readAllRows(server: TestServer): Promise<unknown> {
  const { rows } = await sql<{ name: string }>`select name from sqlite_master where type = 'table'`.execute(
    server.database.read,
  )
  const found: Record<string, unknown> = {}
  for (const { name } of rows) {
    found[name] = (await sql`select * from ${sql.table(name)}`.execute(server.database.read)).rows
  }
  return found
}
