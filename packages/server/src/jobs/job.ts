import type { Secrets } from '../access/credentials/secrets.ts'
import type { PermissionProvider } from '../access/provider/permission-provider.ts'
import type { Signal } from '../bus.ts'
import type { SendEmail } from '../deliveries/emails/send-email.ts'
import type { Clock } from '../platform/clock.ts'
import type { Log } from '../platform/log/log.ts'
import type { Scope } from '../store/deletions.ts'
import type { Database, Db } from '../store/engine/db.ts'
import type { Job, JobKind } from '../store/jobs.ts'
import type { ThreadServices } from '../threads/thread-changes.ts'

/**
 * Runs a transaction that moves documents, then moves or removes, in steps, the rows that it left at the old ids. Returns
 * false if the transaction returned false, or did not run because the scope is small enough for one transaction.
 */
export type RemoveInSteps = (
  apiKey: string,
  scope: Extract<Scope, { movedTo?: string }>,
  transaction: (db: Db) => Promise<boolean>,
) => Promise<boolean>

/** How jobs send mails. */
export interface Mails {
  send: SendEmail
  secrets: Secrets
  log: Log
}

/** What one run of a job is given. */
export interface JobContext<K extends JobKind> {
  database: Database
  job: Job<K>
  now: number
  /** For jobs that take long. */
  clock: Clock
  /** Publishes a message to open sessions of the job's API key. Call it once the change is durable. */
  signal: (message: Signal) => void
  removeInSteps: RemoveInSteps
  permissionProvider: PermissionProvider
  mails: Mails
  services: ThreadServices
}

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
}

/** One handler for each kind of job. */
export type JobHandlers = { [K in JobKind]: JobHandler<K> }
