import type { Db } from '../engine/db.ts'
import { appendOnPostgres } from './append-postgres.ts'
import { appendOnSqlite } from './append-sqlite.ts'
import type { Contents, Place, Writer } from './editors.ts'
import { sqliteOf } from '../engine/prepared.ts'

/** An update to append. */
export interface Entry {
  apiKey: string
  place: Place
  update: Uint8Array
  writer: Writer
  /** What an editor holds that is made if there is none; null: it must be there. */
  create: Contents | null
  /** The one that was loaded: another editor under the same id counts as gone. */
  createdAt?: number
  /** Client ids that write here for the first time. */
  owners: readonly (readonly [clientId: number, userId: string])[]
}

/** The number that an update got, in the editor that was made then. */
export interface Appended {
  seq: number
  createdAt: number
}

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
