import type { PermissionProvider } from '../access/provider/permission-provider.ts'
import { type Clock, type StopTimer, systemClock } from '../platform/clock.ts'
import type { Bus, Signal } from '../bus.ts'
import type { Log } from '../platform/log/log.ts'
import type { JobObserver } from '../platform/metrics/metrics.ts'
import type { Database } from '../store/engine/db.ts'

import * as jobs from '../store/jobs.ts'
import type { Job, JobKind } from '../store/jobs.ts'
import { handlers } from './handlers.ts'
import type { JobHandler, RemoveInSteps } from './job.ts'

const maxAttempts = 3
/** The wait after the first failed attempt. It doubles with each further attempt. */
const retryMs = 2_000
/** How often the runner looks for jobs that were postponed or whose server died. `wake` announces new jobs. */
const defaultPollMs = 5_000

export interface JobRunner {
  start(): Promise<void>
  /** Makes the runner look for jobs. Call it after a job was added. */
  wake(): void
  /** Resolves when no job runs. */
  idle(): Promise<void>
  /** Starts no further job. Resolves when the running job has ended. */
  stop(): Promise<void>
}

interface JobRunnerDeps {
  database: Database
  bus: Bus
  removeInSteps: RemoveInSteps
  resumeDeletions: () => void
  permissionProvider: PermissionProvider
  log: Log
  clock?: Clock
  pollMs?: number | undefined
  observe: (kind: string) => JobObserver
}

/** Runs the jobs in the database one after the other. After `maxAttempts` failed attempts it abandons a job. */
export function createJobRunner(deps: JobRunnerDeps): JobRunner {
  const { database, bus, log, clock = systemClock, observe, pollMs = defaultPollMs } = deps
  const { removeInSteps, resumeDeletions, permissionProvider } = deps
  const observers = Object.fromEntries(Object.keys(handlers).map((kind) => [kind, observe(kind)])) as Record<
    JobKind,
    JobObserver
  >
  let isStopped = true
  let running: Promise<void> | undefined
  /** Whether `wake` was called since the runner last looked for jobs. */
  let isAwake = false
  let stopPolling: StopTimer | undefined

  const run = async <K extends JobKind>(job: Job<K>, handler: JobHandler<K>): Promise<void> => {
    const signal = (message: Signal) => bus.publish({ ...message, apiKey: job.apiKey })
    const now = clock.now()
    const services = { wakeJobs: wake, resumeDeletions }
    const context = { database, job, now, clock, signal, removeInSteps, permissionProvider, services }
    const isAbandoned = job.attempts > maxAttempts
    const result = isAbandoned ? await handler.abandon(context) : await handler.run(context)
    if (result === 'settled') return
    await database.write(async (db) => {
      if (result === 'unfinished') await jobs.postpone(db, job.jobId, clock.now())
      else await jobs.finish(db, job.jobId)
    })
  }

  /** Runs the next job that is due. Returns false if there is none. */
  const runNext = async (): Promise<boolean> => {
    const job = await jobs.claim(database, clock.now())
    if (!job) return false
    const observer = observers[job.kind]
    const startedAt = clock.elapsed()
    try {
      await run(job, handlers[job.kind])
    } catch (error) {
      observer.onFailed()
      log.error({ err: error, job: job.jobId, kind: job.kind, attempts: job.attempts }, 'job failed')
      const runAt = clock.now() + retryMs * 2 ** (job.attempts - 1)
      await database.write((db) => jobs.postpone(db, job.jobId, runAt))
    } finally {
      observer.onRun((clock.elapsed() - startedAt) / 1000)
    }
    return true
  }

  const runAll = async (): Promise<void> => {
    try {
      do {
        isAwake = false
        while (!isStopped && (await runNext())) continue
      } while (isAwake && !isStopped)
    } catch (error) {
      // The database is unavailable. The next poll tries again.
      log.warn({ err: error }, 'jobs are waiting for the database')
    }
  }

  const wake = () => {
    isAwake = true
    if (isStopped || running) return
    running = runAll().finally(() => {
      running = undefined
    })
  }

  return {
    async start() {
      isStopped = false
      if (database.exclusive) await database.write((db) => jobs.releaseAll(db, clock.now()))
      stopPolling = clock.setInterval(wake, pollMs)
      wake()
    },
    wake,
    async idle() {
      await running
    },
    async stop() {
      isStopped = true
      stopPolling?.()
      await running
    },
  }
}
