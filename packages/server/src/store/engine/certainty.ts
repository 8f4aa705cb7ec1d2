import { type Clock, systemClock } from '../../platform/clock.ts'
import type { Database } from './db.ts'
import { isTimeout, isUnavailable } from './failures.ts'

/** A commit that got no answer may still take effect up to this long after the database answers again. */
const maxLateMs = 1_000
/** A database that does not answer this many pings, `maxLateMs` apart, is given up. */
const maxPings = 600

/** Whether a write that failed with this error may have been committed. True if in doubt. */
export const mayBeCommitted = (error: unknown): boolean => isUnavailable(error) || isTimeout(error)

/**
 * Resolves when a commit that got no answer either can be read or can no longer take effect, or when the database is given
 * up.
 */
export async function whenCertain(
  database: Pick<Database, 'ping'>,
  clock: Clock = systemClock,
): Promise<void> {
  const pause = () => new Promise<void>((resolve) => clock.setTimeout(resolve, maxLateMs))
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
