import type { Bus, Emitted } from '../platform/bus.ts'
import type { Log } from '../platform/log/log.ts'
import type { JobObserver } from '../platform/metrics/metrics.ts'
import type { Database, Db } from '../store/engine/db.ts'
import type { Scope } from '../store/deletions/deletions.ts'
import * as jobs from '../store/jobs.ts'
import type { Job, JobKind } from '../store/jobs.ts'
import { handlers } from './handlers.ts'

const attempts = 3
/** Finds the jobs that were postponed or whose server died; new ones are announced with `wake`. */
const defaultPollMs = 5_000

export interface JobRunner {
  start(): Promise<void>
  wake(): void
  /** Waits for the job that runs. */
  stop(): Promise<void>
}

/** What a kind of job does. Either all of `run` happens or nothing; `abandon` records that it never will. */
export interface JobHandler<K extends JobKind> {
  /** `emit` tells open sessions of the job's API key, once what it says is durable. */
  run(
    database: Database,
    job: Job<K>,
    now: number,
    emit: (message: Emitted) => void,
    removeInSteps: RemoveInSteps,
  ): Promise<void>
  abandon(database: Database, job: Job<K>, now: number): Promise<void>
}

/** Removes in steps what a transaction leaves of the scope. False: the scope is small, or the transaction gave false. */
type RemoveInSteps = (
  apiKey: string,
  scope: Extract<Scope, { movedTo?: string }>,
  transaction: (db: Db) => Promise<boolean>,
) => Promise<boolean>

export type JobHandlers = { [K in JobKind]: JobHandler<K> }

interface Options {
  database: Database
  bus: Bus
  removeInSteps: RemoveInSteps
  log: Log
  now: () => number
  pollMs?: number
  observe: (job: string) => JobObserver
}

/** Runs the jobs of the database one after the other. A job runs at least once, and at most `attempts` times. */
export function createJobRunner(options: Options): JobRunner {
  const { database, bus, log, now, removeInSteps, observe, pollMs = defaultPollMs } = options
  const observers = Object.fromEntries(Object.keys(handlers).map((kind) => [kind, observe(kind)])) as Record<
    JobKind,
    JobObserver
  >
  let stopped = true
  let running: Promise<void> | undefined
  let again = false
  let timer: NodeJS.Timeout | undefined

  const runOne = async (): Promise<boolean> => {
    const job = await jobs.claim(database, now())
    if (!job) return false
    const handler = handlers[job.kind]
    const observer = observers[job.kind]
    const began = performance.now()
    const emit = (message: Emitted) => bus.publish({ ...message, apiKey: job.apiKey })
    try {
      if (job.attempts <= attempts) await handler.run(database, job, now(), emit, removeInSteps)
      else await handler.abandon(database, job, now())
      await database.write((db) => jobs.finish(db, job.jobId))
    } catch (error) {
      observer.failed()
      log.error({ err: error, job: job.jobId, kind: job.kind, attempts: job.attempts }, 'job failed')
      await database.write((db) => jobs.postpone(db, job.jobId, now() + 1000 * 2 ** job.attempts))
    } finally {
      observer.ran((performance.now() - began) / 1000)
    }
    return true
  }

  const drain = async (): Promise<void> => {
    try {
      do {
        again = false
        while (!stopped && (await runOne())) continue
      } while (again && !stopped)
    } catch (error) {
      // The database is away; the next poll tries again.
      log.warn({ err: error }, 'jobs are waiting for the database')
    }
  }

  const wake = () => {
    again = true
    if (stopped || running) return
    running = drain().finally(() => {
      running = undefined
    })
  }

  return {
    async start() {
      stopped = false
      if (database.exclusive) await database.write((db) => jobs.releaseAll(db, now()))
      timer = setInterval(wake, pollMs).unref()
      wake()
    },
    wake,
    async stop() {
      stopped = true
      clearInterval(timer)
      await running
    },
  }
}
