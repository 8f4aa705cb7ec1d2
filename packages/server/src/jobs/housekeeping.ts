import { type Clock, type StopTimer, systemClock } from '../platform/clock.ts'
import type { Log } from '../platform/log/log.ts'
import type { JobObserver } from '../platform/metrics/metrics.ts'
import type { Database, Db } from '../store/engine/db.ts'
import * as addressCalls from '../store/address-calls.ts'
import * as deliveries from '../store/deliveries/deliveries.ts'
import * as documentMigrations from '../store/documents/document-migrations.ts'
import * as erasures from '../store/erasures/erasures.ts'
import * as events from '../store/events.ts'
import * as idempotency from '../store/idempotency.ts'
import * as locks from '../store/locks.ts'
import * as loginLinks from '../store/login-links.ts'
import * as presence from '../store/documents/presence.ts'
import * as signals from '../store/signals.ts'
import * as removedGrants from '../store/access/removed-grants.ts'

const dayMs = 24 * 60 * 60 * 1000
/** How long an operator can look at a delivery and repeat it (spec 28.1). */
const deliveryRetentionMs = 14 * dayMs
const intervalMs = 60 * 60 * 1000
/**
 * The first run is not at the start, when a server is busy, and not after an hour, which a server that restarts often would
 * never reach.
 */
const firstRunMs = 60 * 1000
/** A longer transaction would delay other writers: a stored answer may have megabytes. */
const maxRowsPerTransaction = 200

/** Deletes up to `maxRows` expired rows. Returns how many it deleted. */
type Prune = (db: Db, now: number, maxRows: number) => Promise<number>

/**
 * The functions that delete expired data, by the name of the job in metrics. Late deletion is harmless: readers ignore
 * expired data. Only the state of an old migration or erasure can be read until it is deleted.
 */
const prunes = (eventRetentionDays: number): Record<string, Prune> => ({
  'idempotencyKeys.prune': idempotency.prune,
  'locks.prune': locks.prune,
  'loginLinks.prune': loginLinks.prune,
  'addressCalls.prune': addressCalls.prune,
  'presence.prune': presence.prune,
  'documentMigrations.prune': documentMigrations.prune,
  'erasures.prune': erasures.prune,
  'endedGrants.prune': removedGrants.prune,
  'signals.prune': signals.prune,
  'deliveries.prune': (db, now, maxRows) => deliveries.prune(db, now - deliveryRetentionMs, maxRows),
  'events.prune': (db, now, maxRows) => events.prune(db, now - eventRetentionDays * dayMs, maxRows),
})

export interface Housekeeping {
  start(): void
  /** Deletes all expired data once. */
  run(): Promise<void>
  /** Starts no further run. Resolves when the run in progress has ended. */
  stop(): Promise<void>
}

interface HousekeepingDeps {
  database: Database
  log: Log
  clock?: Clock
  observe: (job: string) => JobObserver
  eventRetentionDays: number
}

/** Creates the job that deletes expired data every hour. Servers that share a database may do this at the same time. */
export function createHousekeeping(deps: HousekeepingDeps): Housekeeping {
  const { database, log, clock = systemClock, observe, eventRetentionDays } = deps
  const tasks = Object.entries(prunes(eventRetentionDays)).map(([job, prune]) => ({
    job,
    prune,
    observer: observe(job),
  }))
  let isStopped = false
  let stopTimer: StopTimer | undefined
  let running: Promise<void> | undefined

  /** Deletes some rows in one transaction. Returns false if there were none. */
  const pruneBatch = async (prune: Prune) => {
    if (isStopped) return false
    const removed = await database.write((db) => prune(db, clock.now(), maxRowsPerTransaction))
    return removed > 0
  }
  const run = async () => {
    for (const { job, prune, observer } of tasks) {
      const startedAt = clock.elapsed()
      try {
        while (await pruneBatch(prune)) continue
      } catch (error) {
        observer.onFailed()
        log.warn({ err: error, job }, 'housekeeping failed; it runs again in an hour')
      } finally {
        observer.onRun((clock.elapsed() - startedAt) / 1000)
      }
    }
  }
  const tick = () => {
    running = run()
    stopTimer = clock.setTimeout(tick, intervalMs)
  }

  return {
    start() {
      stopTimer = clock.setTimeout(tick, firstRunMs)
    },
    run,
    async stop() {
      isStopped = true
      stopTimer?.()
      await running
    },
  }
}
