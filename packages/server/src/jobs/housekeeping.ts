import type { Log } from '../platform/log/log.ts'
import type { JobObserver } from '../platform/metrics/metrics.ts'
import type { Database, Db } from '../store/engine/db.ts'
import * as documentMigrations from '../store/documents/document-migrations.ts'
import * as idempotency from '../store/idempotency.ts'
import * as presence from '../store/documents/presence.ts'
import * as removedGrants from '../store/access/removed-grants.ts'

const hourMs = 60 * 60 * 1000
/** Not at once, when a server has better things to do; not after an hour, which one that restarts often never lives. */
const firstMs = 60 * 1000
/** Rows of one transaction: a longer one would keep other writers waiting. Kept answers may have megabytes each. */
const batch = 200

type Prune = (db: Db, now: number, most: number) => Promise<number>

/** Data with a limited lifetime, by the name of its job. Readers filter by time, so late deletion is harmless. */
const prunes: Record<string, Prune> = {
  'idempotencyKeys.prune': idempotency.prune,
  'presence.prune': presence.prune,
  'documentMigrations.prune': documentMigrations.prune,
  'endedGrants.prune': removedGrants.prune,
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
  observe: (job: string) => JobObserver
}): Housekeeping {
  const { database, log, now, observe } = options
  const tasks = Object.entries(prunes).map(([job, prune]) => ({ job, prune, observer: observe(job) }))
  let stopped = false
  let timer: NodeJS.Timeout | undefined
  let running: Promise<void> | undefined

  const removedBatch = async (prune: Prune) =>
    !stopped && (await database.write((db) => prune(db, now(), batch))) === batch
  const run = async () => {
    for (const { job, prune, observer } of tasks) {
      const began = performance.now()
      try {
        while (await removedBatch(prune)) continue
      } catch (error) {
        observer.failed()
        log.warn({ err: error, job }, 'housekeeping failed; it tries again in an hour')
      } finally {
        observer.ran((performance.now() - began) / 1000)
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
