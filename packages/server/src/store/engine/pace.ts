import type { Db } from './db.ts'
import { sqliteOf } from './prepared.ts'

/**
 * A transaction that has taken longer leaves the rest to the next one, so that others have their turn. On SQLite it holds
 * the event loop and all other writers; on PostgreSQL it does neither, and each statement is a way there and back.
 * `factor` is how many more rows one statement takes there.
 */
export const paceOf = (db: Db) => (sqliteOf(db) ? { budgetMs: 15, factor: 1 } : { budgetMs: 40, factor: 5 })
