import type { Database } from './db.ts'
import { isTooLate, isUnavailable } from './failures.ts'

/** A commit that got no answer may still arrive: within this after the database answers again. */
const lateMs = 1_000
/** How often an unreachable database is asked whether it is back. */
const maxPings = 600

/** Whether a write that failed with this error may have been committed. */
export const mayBeCommitted = (error: unknown): boolean => isUnavailable(error) || isTooLate(error)

/** Resolves when a commit that got no answer is there, or will never be. */
export async function whenCertain(database: Pick<Database, 'ping'>): Promise<void> {
  for (let pings = 0; pings < maxPings; pings++) {
    await pause()
    const isBack = await database.ping().then(
      () => true,
      () => false,
    )
    if (isBack) break
  }
  await pause()
}

const pause = () => new Promise((resolve) => setTimeout(resolve, lateMs).unref())
