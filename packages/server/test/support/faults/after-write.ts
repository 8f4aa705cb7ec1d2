import type { Database } from '../../../src/store/engine/db.ts'

/** The error of node-postgres when the connection breaks before the answer to a commit arrives. */
export const lostAnswer = new Error('Connection terminated unexpectedly')

/** The same database, with an action between the n-th write, which is durable, and its answer. */
export function afterWrite(database: Database, n: number, action: () => Promise<unknown>): Database {
  let writes = 0
  return {
    ...database,
    read: database.read,
    async write(work, lane) {
      const result = await database.write(work, lane)
      if (++writes === n) await action()
      return result
    },
  }
}
