import type { Db } from '../engine/db.ts'
import { appendOnPostgres } from './append-postgres.ts'
import { appendOnSqlite } from './append-sqlite.ts'
import type { Appended, Entry } from './log-entry.ts'
import { sqliteOf } from '../engine/prepared.ts'

/**
 * Appends each update to the log of its editor; undefined where the editor, or the document that one would be made in, is
 * gone. For any number of editors of any tenants at once.
 */
export async function append(
  db: Db,
  entries: readonly Entry[],
  now: number,
): Promise<(Appended | undefined)[]> {
  const sqlite = sqliteOf(db)
  if (sqlite) return appendOnSqlite(sqlite, entries, now)
  return (await appendOnPostgres(db, entries, now, 'wait')) as (Appended | undefined)[]
}

/** The same, but waits for nobody: `locked` where another transaction writes the editor. */
export async function appendFree(
  db: Db,
  entries: readonly Entry[],
  now: number,
): Promise<(Appended | 'locked' | undefined)[]> {
  const sqlite = sqliteOf(db)
  return sqlite ? appendOnSqlite(sqlite, entries, now) : appendOnPostgres(db, entries, now, 'skip')
}
