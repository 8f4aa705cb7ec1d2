import type { PermissionProvider } from '../access/provider/permission-provider.ts'
import { type Clock, type StopTimer, systemClock } from '../platform/clock.ts'
import type { Bus, Signal } from '../bus.ts'
import type { Log } from '../platform/log/log.ts'
import type { JobObserver } from '../platform/metrics/metrics.ts'
import { Limiter } from '../platform/turns/limiter.ts'
import type { Database } from '../store/engine/db.ts'
import * as jobs from '../store/jobs.ts'
import type { Job, JobKind } from '../store/jobs.ts'
import { handlers } from './handlers.ts'
import type { JobHandler, Mails, RemoveInSteps } from './job.ts'
import { KeyTurns } from './key-turns.ts'

const maxAttempts = 3
/** The wait after the first failed attempt. It doubles with each further attempt. */
const retryMs = 2_000
/** How often the runner looks for jobs that were postponed or whose server died. `wake` announces new jobs. */
const defaultPollMs = 5_000
/** Many, because a job may wait half a minute for a permission provider. A job holds less than 300 KB of recipients. */
const maxConcurrentKeys = 200
/** Few, because requests of other tenants take turns with all transactions of jobs. Each takes up to 15 ms on SQLite. */
const maxConcurrentWrites = 4

export interface JobRunner {
  start(): Promise<void>
  /** Makes the runner look for jobs of the API key. Call it after a job was added. */
  wake(apiKey: string): void
  /** Resolves when no job runs. */
  idle(): Promise<void>
  /** Starts no further job. Resolves when the running jobs have ended. */
  stop(): Promise<void>
}

interface JobRunnerDeps {
  database: Database
  bus: Bus
  removeInSteps: RemoveInSteps
  resumeDeletions: () => void
  permissionProvider: PermissionProvider
  mails: Mails
  log: Log
  clock?: Clock
  pollMs?: number | undefined
  observe: (kind: string) => JobObserver
}

/**
 * Runs the jobs in the database: those of one API key one after the other, those of different keys side by side and in turns.
 * After `maxAttempts` failed attempts it abandons a job.
 */
export function createJobRunner(deps: JobRunnerDeps): JobRunner {
  const { bus, log, clock = systemClock, observe, pollMs = defaultPollMs } = deps
  const { removeInSteps, resumeDeletions, permissionProvider, mails } = deps
  const database = withLimitedWrites(deps.database)
  const observers = Object.fromEntries(Object.keys(handlers).map((kind) => [kind, observe(kind)])) as Record<
    JobKind,
    JobObserver
  >
  let isStopped = true
  let polling: Promise<void> | undefined
  let stopPolling: StopTimer | undefined

  const run = async <K extends JobKind>(job: Job<K>, handler: JobHandler<K>): Promise<void> => {
    const { apiKey, jobId } = job
    const signal = (message: Signal) => bus.publish({ ...message, apiKey })
    const now = clock.now()
    const services = { wakeJobs: wake, resumeDeletions }
    const context = { database, job, now, clock, signal, removeInSteps, permissionProvider, mails, services }
    const isAbandoned = job.attempts > maxAttempts
    const result = isAbandoned ? await handler.abandon(context) : await handler.run(context)
    if (result === 'settled') return
    await database.write(async (db) => {
      if (result === 'unfinished') await jobs.postpone(db, jobId, clock.now())
      else await jobs.finish(db, jobId)
    }, apiKey)
  }

  const onError = async (err: unknown, { jobId, apiKey, kind, attempts }: Job): Promise<void> => {
    const about = { err, job: jobId, kind, attempts }
    if (isStopped) {
      log.info(about, 'job was interrupted and will run again')
      await database.write((db) => jobs.giveBack(db, jobId), apiKey)
    } else {
      observers[kind].onFailed()
      log.error(about, 'job failed')
      const runAt = clock.now() + retryMs * 2 ** (attempts - 1)
      await database.write((db) => jobs.postpone(db, jobId, runAt), apiKey)
    }
  }

  /** Runs the next job of the API key that is due. Returns false if there is none. */
  const runNext = async (apiKey: string): Promise<boolean> => {
    const job = isStopped ? undefined : await jobs.claim(database, apiKey, clock.now())
    if (!job) return false
    const startedAt = clock.elapsed()
    try {
      await run(job, handlers[job.kind])
    } catch (error) {
      await onError(error, job)
    } finally {
      observers[job.kind].onRun((clock.elapsed() - startedAt) / 1000)
    }
    return true
  }

  /** The database is unavailable. The next poll tries again. */
  const onUnavailable = (err: unknown) => log.warn({ err }, 'jobs are waiting for the database')

  const turns = new KeyTurns(maxConcurrentKeys, (apiKey) =>
    runNext(apiKey).catch((error: unknown) => {
      onUnavailable(error)
      return false
    }),
  )

  const wake = (apiKey: string) => {
    if (!isStopped) turns.add(apiKey)
  }

  const wakeDue = async () => {
    try {
      for await (const apiKeys of jobs.findDueKeys(database.read, clock.now())) apiKeys.forEach(wake)
    } catch (error) {
      onUnavailable(error)
    }
  }

  /** Looks for jobs of all API keys. */
  const poll = () => {
    polling ??= wakeDue().finally(() => {
      polling = undefined
    })
  }

  const idle = async () => {
    await polling
    await turns.idle()
  }

  return {
    async start() {
      isStopped = false
      if (database.exclusive) await jobs.releaseAll(database, clock.now())
      stopPolling = clock.setInterval(poll, pollMs)
      poll()
    },
    wake,
    idle,
    async stop() {
      isStopped = true
      stopPolling?.()
      await idle()
    },
  }
}

function withLimitedWrites(database: Database): Database {
  const limiter = new Limiter(maxConcurrentWrites)
  return {
    ...database,
    write: (work, lane = '') => limiter.run(lane, () => database.write(work, lane)),
  }
}
