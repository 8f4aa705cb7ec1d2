import { sql } from 'kysely'
import type { Database, Db } from './engine/db.ts'
import { parse } from './engine/json.ts'

/** Every kind of background job and its payload. */
export interface Jobs {
  'document.migrate': { organizationId: string; migrationId: string }
  'users.erase': { erasureId: string }
  'notification.deliver': { organizationId: string; notificationId: string }
}

export type JobKind = keyof Jobs
export type JobPayload<K extends JobKind> = Jobs[K]

export interface Job<K extends JobKind = JobKind> {
  jobId: string
  apiKey: string
  kind: K
  payload: JobPayload<K>
  /** When the job was due. */
  runAt: number
  /** How many times the job was started, including this attempt. */
  attempts: number
}

/**
 * Longer than a job usually takes. After this time another server starts the job again, because its server may have died.
 */
const leaseMs = 60_000

export async function add<K extends JobKind>(
  db: Db,
  job: {
    jobId: string
    apiKey: string
    kind: K
    payload: JobPayload<K>
    now: number
    /** Default: now. */
    runAt?: number
  },
): Promise<void> {
  await db
    .insertInto('jobs')
    .values({
      job_id: job.jobId,
      api_key: job.apiKey,
      kind: job.kind,
      payload: JSON.stringify(job.payload),
      attempts: 0,
      run_at: job.runAt ?? job.now,
      leased_until: job.runAt ?? job.now,
      created_at: job.now,
    })
    .execute()
}

/**
 * Of the jobs that no server has leased, leases the one that has been due longest. Returns undefined if none is due. No lease
 * ends before `run_at`, so an index finds the job, however many others wait.
 */
export function claim(database: Database, now: number): Promise<Job | undefined> {
  return database.write(async (db) => {
    const due = db
      .selectFrom('jobs')
      .select('job_id')
      .where('leased_until', '<=', now)
      .orderBy('leased_until')
      .limit(1)
      .$if(database.dialect === 'postgres', (query) => query.forUpdate().skipLocked())
    const row = await db
      .updateTable('jobs')
      .set({ leased_until: now + leaseMs, attempts: sql`attempts + 1` })
      .where('job_id', 'in', due)
      .returning(['job_id', 'api_key', 'kind', 'payload', 'run_at', 'attempts'])
      .executeTakeFirst()
    return (
      row && {
        jobId: row.job_id,
        apiKey: row.api_key,
        kind: row.kind as JobKind,
        payload: parse<JobPayload<JobKind>>(row.payload),
        runAt: row.run_at,
        attempts: row.attempts,
      }
    )
  })
}

/** Removes the job. Returns false if another server has finished it before. */
export async function finish(db: Db, jobId: string): Promise<boolean> {
  const { numDeletedRows } = await db.deleteFrom('jobs').where('job_id', '=', jobId).executeTakeFirst()
  return numDeletedRows > 0n
}

/** Prolongs the lease, so that no other server claims the job. */
export async function renew(db: Db, jobId: string, now: number): Promise<void> {
  await db
    .updateTable('jobs')
    .set({ leased_until: now + leaseMs })
    .where('job_id', '=', jobId)
    .execute()
}

/** Makes the jobs run at this time, as if they had never run. */
export async function reschedule(db: Db, jobIds: readonly string[], runAt: number): Promise<void> {
  await db
    .updateTable('jobs')
    .set({ run_at: runAt, leased_until: runAt, attempts: 0 })
    .where('job_id', 'in', jobIds)
    .execute()
}

/** Ends the lease. The job does not run before `runAt`. */
export async function postpone(db: Db, jobId: string, runAt: number): Promise<void> {
  await db
    .updateTable('jobs')
    .set({ run_at: runAt, leased_until: runAt })
    .where('job_id', '=', jobId)
    .execute()
}

/** Prolongs the lease of a job that makes progress, and forgets the attempts that failed before. */
export async function recordProgress(db: Db, jobId: string, now: number): Promise<void> {
  await db
    .updateTable('jobs')
    .set({ attempts: 1, leased_until: now + leaseMs })
    .where('job_id', '=', jobId)
    .execute()
}

/** Ends all leases. Only for a server that has the database to itself: the leases are from its last run. */
export async function releaseAll(db: Db, now: number): Promise<void> {
  await db
    .updateTable('jobs')
    .set((eb) => ({ leased_until: eb.ref('run_at') }))
    .where('leased_until', '>', now)
    // Without the limit, it would read all jobs that wait.
    .where('leased_until', '<=', now + leaseMs)
    .where('run_at', '<=', now)
    .execute()
}
