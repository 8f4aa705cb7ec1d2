import type { Log } from '../platform/log.ts'
import type { Database, Db } from '../store/db.ts'
import * as documentMigrations from '../store/document-migrations.ts'
import * as idempotency from '../store/idempotency.ts'
import * as presence from '../store/presence.ts'
import * as removedGrants from '../store/removed-grants.ts'

const hourMs = 60 * 60 * 1000
/** Not at once, when a server has better things to do; not after an hour, which one that restarts often never lives. */
const firstMs = 60 * 1000
/** Rows of one transaction: a longer one would keep other writers waiting. Kept answers may have megabytes each. */
const batch = 200

type Prune = (db: Db, now: number, most: number) => Promise<number>

/** What is kept for a while only. Readers look at the time themselves, so how late it goes matters to nobody. */
const prunes: Record<string, Prune> = {
  'idempotency keys': idempotency.prune,
  presence: presence.prune,
  'document migrations': documentMigrations.prune,
  'ended grants': removedGrants.prune,
}

export interface Housekeeping {
  start(): void
  /** Removes once what is out of date. */
  run(): Promise<void>
  /** Waits for the run that has begun. */
  stop(): Promise<void>
}

/** Removes what is out of date, every hour. Servers that share a database may do so at the same time. */
export function createHousekeeping(options: {
  database: Database
  log: Log
  now: () => number
}): Housekeeping {
  const { database, log, now } = options
  let stopped = false
  let timer: NodeJS.Timeout | undefined
  let running: Promise<void> | undefined

  const removedBatch = async (prune: Prune) =>
    !stopped && (await database.write((db) => prune(db, now(), batch))) === batch
  const run = async () => {
    for (const [what, prune] of Object.entries(prunes)) {
      try {
        while (await removedBatch(prune)) continue
      } catch (error) {
        log.warn({ err: error, what }, 'housekeeping failed; it tries again in an hour')
      }
    }
  }
  const tick = () => {
    running = run()
    timer = setTimeout(tick, hourMs).unref()
  }

  return {
    start() {
      timer = setTimeout(tick, firstMs).unref()
    },
    run,
    async stop() {
      stopped = true
      clearTimeout(timer)
      await running
    },
  }
}
