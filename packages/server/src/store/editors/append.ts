import type { Db } from '../engine/db.ts'
import { appendOnPostgres } from './append-postgres.ts'
import { appendOnSqlite } from './append-sqlite.ts'
import { announceChanges } from './change-jobs.ts'
import type { Appended, Entry } from './log-entry.ts'
import { sqliteOf } from '../engine/prepared.ts'

/** The API keys that want to know of changed editors. */
type Announced = ReadonlySet<string>
const nobody: Announced = new Set()

/**
 * Appends each update to the log of its editor, for any number of editors of any tenants. Returns undefined for an entry
 * whose editor does not exist, was created at another time than `createdAt`, or cannot be created because its document does
 * not exist. Returns `claimed` for an entry with a Yjs client id that belongs to another user.
 */
export async function append(
  db: Db,
  entries: readonly Entry[],
  now: number,
  announced = nobody,
): Promise<(Appended | 'claimed' | undefined)[]> {
  const sqlite = sqliteOf(db)
  const appended = sqlite
    ? appendOnSqlite(sqlite, entries, now)
    : ((await appendOnPostgres(db, entries, now, 'wait')) as (Appended | 'claimed' | undefined)[])
  await announce(db, entries, appended, now, announced)
  return appended
}

/**
 * As `append`, but without waiting for locks. Returns `locked` for an entry whose editor another transaction writes, and
 * for an entry whose editor could not be created.
 */
export async function appendSkippingLocked(
  db: Db,
  entries: readonly Entry[],
  now: number,
  announced = nobody,
): Promise<(Appended | 'claimed' | 'locked' | undefined)[]> {
  const sqlite = sqliteOf(db)
  const appended = sqlite
    ? appendOnSqlite(sqlite, entries, now)
    : await appendOnPostgres(db, entries, now, 'skip')
  await announce(db, entries, appended, now, announced)
  return appended
}

async function announce(
  db: Db,
  entries: readonly Entry[],
  appended: readonly (Appended | 'claimed' | 'locked' | undefined)[],
  now: number,
  announced: Announced,
): Promise<void> {
  if (announced.size === 0) return
  const changed = entries.flatMap(({ apiKey, editor }, index) => {
    const result = appended[index]
    if (!announced.has(apiKey) || typeof result !== 'object') return []
    return { apiKey, editor, createdAt: result.createdAt }
  })
  await announceChanges(db, changed, now)
}
