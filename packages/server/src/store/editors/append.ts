import type { Db } from '../engine/db.ts'
import { appendOnPostgres } from './append-postgres.ts'
import { appendOnSqlite } from './append-sqlite.ts'
import type { Appended, Entry } from './log-entry.ts'
import { sqliteOf } from '../engine/prepared.ts'

/**
 * Appends each update to the log of its editor, for any number of editors of any tenants. Returns undefined for an entry
 * whose editor does not exist, was created at another time than `createdAt`, or cannot be created because its document does
 * not exist.
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

/**
 * As `append`, but without waiting for locks. Returns `locked` for an entry whose editor another transaction writes, and
 * for an entry whose editor could not be created.
 */
export async function appendSkippingLocked(
  db: Db,
  entries: readonly Entry[],
  now: number,
): Promise<(Appended | 'locked' | undefined)[]> {
  const sqlite = sqliteOf(db)
  return sqlite ? appendOnSqlite(sqlite, entries, now) : appendOnPostgres(db, entries, now, 'skip')
}
