import type { ApiKeySignals } from '../peers/signals.ts'
import type { Clock } from '../platform/clock.ts'
import type { Database } from '../store/engine/db.ts'
import type { Job, JobKind } from '../store/jobs.ts'

/** What one run of a job is given. */
export interface JobContext<K extends JobKind> {
  /** Its `write` fails with `ClaimLost` when another server has taken over the job. */
  database: Database
  job: Job<K>
  now: number
  /** For jobs that take long. */
  clock: Clock
  /** Tells the open sessions of the job's API key, on all servers, what has changed. */
  signals: ApiKeySignals
  /** Makes the runner look for jobs in a lane of the API key: now, or after a time. Call it once a job was added there. */
  wake: (lane: string, waitMs?: number) => void
  /** Aborted when the server stops. What was not finished then runs again after the restart. */
  stopping: AbortSignal
}

/** For work that must be done: failures of this server are tried for about an hour. A crash is one of them. */
export const attemptsOfOneHour = 60

/** What jobs of one kind do. */
export interface JobHandler<K extends JobKind> {
  /**
   * Does the whole job, or a part of it. If it throws, the runner tries the job again later, so it must be safe to repeat.
   * `unfinished`: it runs again after the other jobs that are due. `settled`: the transaction that made the last change also
   * removed or postponed the job. Otherwise the runner removes it.
   */
  run(context: JobContext<K>): Promise<'unfinished' | 'settled' | void>
  /**
   * Runs instead of `run` after the last attempt has failed, or its server died: records that the job failed, and that it
   * is not tried again.
   */
  abandon(context: Pick<JobContext<K>, 'database' | 'job' | 'now'>): Promise<void>
  /** How often the job is started before it is abandoned. Default: 3. */
  maxAttempts?: number
  /** How many jobs of one lane run at the same time, if the kind has lanes of its own. Default: 1. */
  concurrency?: number
}

/** One handler for each kind of job. */
export type JobHandlers = { [K in JobKind]: JobHandler<K> }
