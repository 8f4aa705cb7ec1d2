import type { Database, DatabaseOptions } from './db.ts'
import { openSqlite } from './sqlite.ts'

/** Opens the configured database and migrates it to the newest schema. */
export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  if (options.url === undefined) return openSqlite(options)
  // Loaded only if it is used, because loading the driver takes time.
  const { openPostgres } = await import('./postgres.ts')
  return openPostgres({ ...options, url: options.url })
}
