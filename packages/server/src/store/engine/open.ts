import type { Database, DatabaseOptions } from './db.ts'
import { openPostgres } from './postgres.ts'
import { openSqlite } from './sqlite.ts'

/** Opens the configured database and migrates it to the newest schema. */
export function openDatabase(options: DatabaseOptions): Promise<Database> {
  return options.url === undefined ? openSqlite(options) : openPostgres({ ...options, url: options.url })
}
