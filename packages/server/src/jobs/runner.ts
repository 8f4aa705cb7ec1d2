import type { Signals } from '../peers/signals.ts'
import { type Clock, type StopTimer, systemClock } from '../platform/clock.ts'
import type { Log } from '../platform/log/log.ts'
import type { JobObserver } from '../platform/metrics/metrics.ts'
import { Limiter } from '../platform/turns/limiter.ts'
import type { Database } from '../store/engine/db.ts'
import * as jobs from '../store/jobs.ts'
import type { Claim, Job, JobKind, Lane } from '../store/jobs.ts'
import type { JobHandler, JobHandlers } from './job.ts'
import { LaneTurns } from './lane-turns.ts'

const defaultMaxAttempts = 3
/** The wait after the first failed attempt. It doubles with each further attempt. */
const retryMs = 2_000
const maxRetryMs = 60_000
/** How often the runner looks for jobs that were postponed or whose server died. `wake` announces new jobs. */
const defaultPollMs = 5_000
/** A fifth of the lease, so that several renewals may fail, or find the row of a job locked. */
const renewMs = jobs.leaseMs / 5
/** Many, because a job may wait half a minute for a permission provider. A job holds less than 300 KB of recipients. */
const maxConcurrentSharedLanes = 200
/** More, because a lane of its own waits for a server elsewhere, and each job holds one message. */
const maxConcurrentOwnLanes = 500
/** Few, because requests of other tenants take turns with all transactions of jobs. Each takes up to 15 ms on SQLite. */
const maxConcurrentWrites = 4

export interface JobRunner {
  start(): Promise<void>
  /** Makes the runner look for jobs in a lane of the API key. Call it after a job was added. */
  wake(apiKey: string, lane?: string): void
  /** Resolves when no job runs. */
  idle(): Promise<void>
  /** Starts no further job. Resolves when the running jobs have ended. */
  stop(): Promise<void>
}

interface JobRunnerDeps {
  database: Database
  handlers: JobHandlers
  signals: Signals
  log: Log
  clock?: Clock
  pollMs?: number | undefined
  observe: (kind: string) => JobObserver
}

/**
 * Runs the jobs in the database. Those of one lane start in the order in which they are due. Lanes run side by side, and API keys
 * take turns. While a job runs, its lease is renewed. A job that fails is tried again, and abandoned after its last attempt.
 */
export function createJobRunner(deps: JobRunnerDeps): JobRunner {
  const { handlers, signals, log, clock = systemClock, observe, pollMs = defaultPollMs } = deps
  const database = withLimitedWrites(deps.database)
  const kinds = Object.keys(handlers) as JobKind[]
  const observers = new Map(kinds.map((kind) => [kind, observe(kind)]))
  const running = new Set<Job>()
  let stopping = new AbortController()
  let isStopped = true
  let polling: Promise<void> | undefined
  let renewing: Promise<void> | undefined
  let stopTimers: StopTimer[] = []

  const run = async <K extends JobKind>(job: Job<K>, handler: JobHandler<K>): Promise<void> => {
    const { apiKey } = job
    const context = {
      database: withFence(database, job, clock),
      job,
      now: clock.now(),
      clock,
      signals: signals.of(apiKey),
      wake: (lane: string, waitMs?: number) => wakeIn(waitMs, { apiKey, lane }),
      stopping: stopping.signal,
    }
    const isAbandoned = job.attempts > (handler.maxAttempts ?? defaultMaxAttempts)
    const result = isAbandoned ? await handler.abandon(context) : await handler.run(context)
    if (result === 'settled') return
    await database.write(async (db) => {
      if (result === 'unfinished') await jobs.postpone(db, job, clock.now())
      else await jobs.finishOrFail(db, job)
    }, apiKey)
  }

  const onError = async (err: unknown, job: Job): Promise<void> => {
    const { jobId, apiKey, kind, lane, attempts } = job
    const about = { err, job: jobId, kind, attempts }
    if (isStopped) {
      log.info(about, 'job was interrupted and will run again')
      await database.write((db) => jobs.giveBack(db, job), apiKey)
    } else if (err instanceof jobs.ClaimLost) {
      log.warn(about, 'job was taken over by another server')
    } else {
      observers.get(kind)?.onFailed()
      log.error(about, 'job failed')
      const waitMs = Math.min(maxRetryMs, retryMs * 2 ** (attempts - 1))
      await database.write((db) => jobs.postpone(db, job, clock.now() + waitMs), apiKey)
      wakeIn(waitMs, { apiKey, lane })
    }
  }

  const runClaimed = async (job: Job): Promise<void> => {
    const startedAt = clock.elapsed()
    if (job.attempts === 1) observers.get(job.kind)?.onStarted(Math.max(0, clock.now() - job.runAt) / 1000)
    running.add(job)
    try {
      await run(job, handlers[job.kind])
    } catch (error) {
      await onError(error, job)
    } finally {
      running.delete(job)
      observers.get(job.kind)?.onRun((clock.elapsed() - startedAt) / 1000)
    }
  }

  /** Runs the next jobs of the lane that are due. Returns false if there is none. */
  const runNext = async (lane: Lane): Promise<boolean> => {
    if (isStopped) return false
    const kind = jobs.kindOfLane(lane.lane)
    const max = (kind && handlers[kind]?.concurrency) ?? 1
    const claimed = await jobs.claim(database, lane, clock.now(), max)
    await Promise.all(claimed.map((job) => runClaimed(job).catch(onUnavailable)))
    return claimed.length > 0
  }

  /** The database is unavailable. The next poll tries again. */
  const onUnavailable = (err: unknown) => log.warn({ err }, 'jobs are waiting for the database')

  const takeTurn = (lane: Lane) =>
    runNext(lane).catch((error: unknown) => {
      onUnavailable(error)
      return false
    })
  const sharedTurns = new LaneTurns(maxConcurrentSharedLanes, takeTurn)
  const ownTurns = new LaneTurns(maxConcurrentOwnLanes, takeTurn)

  const wake = (apiKey: string, lane = '') => {
    if (!isStopped) (lane === '' ? sharedTurns : ownTurns).add({ apiKey, lane })
  }

  /** After a longer wait than the time between two polls, a poll finds the job. */
  const wakeIn = (waitMs = 0, { apiKey, lane }: Lane) => {
    if (waitMs <= 0) wake(apiKey, lane)
    else if (waitMs < pollMs) clock.setTimeout(() => wake(apiKey, lane), waitMs)
  }

  const wakeDue = async () => {
    try {
      for await (const lanes of jobs.findDueLanes(database.read, clock.now())) {
        for (const { apiKey, lane } of lanes) wake(apiKey, lane)
      }
    } catch (error) {
      onUnavailable(error)
    }
  }

  /** Looks for jobs in all lanes. */
  const poll = () => {
    polling ??= wakeDue().finally(() => {
      polling = undefined
    })
  }

  const renew = () => {
    if (running.size === 0) return
    renewing ??= database
      .write((db) => jobs.renewAll(db, [...running], clock.now()))
      .catch(onUnavailable)
      .finally(() => {
        renewing = undefined
      })
  }

  const idle = async () => {
    await polling
    await Promise.all([sharedTurns.idle(), ownTurns.idle()])
    await renewing
  }

  return {
    async start() {
      isStopped = false
      stopping = new AbortController()
      if (database.exclusive) await jobs.releaseAll(database, clock.now())
      stopTimers = [clock.setInterval(poll, pollMs), clock.setInterval(renew, renewMs)]
      poll()
    },
    wake,
    idle,
    async stop() {
      isStopped = true
      stopping.abort(new Error('The server stops.'))
      for (const stopTimer of stopTimers) stopTimer()
      await idle()
    },
  }
}

/**
 * The database as a job sees it: no transaction of a job commits after another server has taken the job over. A server that
 * was stopped for longer than its lease continues where it was, and does not know.
 */
function withFence(database: Database, job: Claim, clock: Clock): Database {
  return {
    ...database,
    write: (work, lane) =>
      database.write(async (db) => {
        await jobs.hold(db, job, clock.now())
        return work(db)
      }, lane),
  }
}

function withLimitedWrites(database: Database): Database {
  const limiter = new Limiter(maxConcurrentWrites)
  return {
    ...database,
    write: (work, lane = '') => limiter.run(lane, () => database.write(work, lane)),
  }
}
