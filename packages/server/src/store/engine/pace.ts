import type { Db } from './db.ts'
import { sqliteOf } from './prepared.ts'

/**
 * A transaction that has run for `budgetMs` leaves the rest to the next one, so that other transactions can run. On SQLite
 * it blocks the event loop and all other writers. On PostgreSQL it blocks neither, but each statement is a round trip, so
 * one statement takes `factor` times as many rows.
 */
export const paceOf = (db: Db) => (sqliteOf(db) ? { budgetMs: 15, factor: 1 } : { budgetMs: 40, factor: 5 })
