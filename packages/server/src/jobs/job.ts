import type { Emitted } from '../bus.ts'
import type { RemoveInSteps } from '../store/deletions.ts'
import type { Database } from '../store/engine/db.ts'
import type { Job, JobKind } from '../store/jobs.ts'

/** What a handler gets for one run of a job. */
export interface JobContext<K extends JobKind> {
  database: Database
  job: Job<K>
  now: number
  /** Sends a message to open sessions of the job's API key. Call it once the change is durable. */
  emit: (message: Emitted) => void
  removeInSteps: RemoveInSteps
}

/** What jobs of one kind do. */
export interface JobHandler<K extends JobKind> {
  /** Does the whole job. If it throws, the runner tries the job again later, so it must be safe to repeat. */
  run(context: JobContext<K>): Promise<void>
  /** Runs instead of `run` after the last attempt has failed: records that the job failed, and that it is not tried again. */
  abandon(context: Pick<JobContext<K>, 'database' | 'job' | 'now'>): Promise<void>
}

/** One handler for each kind of job. */
export type JobHandlers = { [K in JobKind]: JobHandler<K> }
