import type { Db } from './db.ts'
import { sqliteOf } from './prepared.ts'

/**
 * How long one transaction of long work may run, and how many rows one of its statements changes. After `budgetMs` the
 * transaction leaves the rest to the next one, so that other transactions can run: on SQLite it blocks the event loop and
 * all other writers. On PostgreSQL it blocks neither, but each statement is a round trip, so a statement changes `factor`
 * times as many rows.
 */
export const paceOf = (db: Db) => (sqliteOf(db) ? { budgetMs: 15, factor: 1 } : { budgetMs: 40, factor: 5 })
