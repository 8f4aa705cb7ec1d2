import { sql } from 'kysely'
import { yieldIfLate } from '../platform/turns/loop-time.ts'
import { batched } from './engine/batched.ts'
import type { Database, Db } from './engine/db.ts'
import { parse } from './engine/json.ts'

/** Every kind of background job and its payload. */
export interface Jobs {
  'document.migrate': { organizationId: string; migrationId: string }
  'users.erase': { erasureId: string }
  'notification.deliver': { organizationId: string; notificationId: string }
  /** The API key of the job is the workspace of the owner. */
  'email.loginLink': { email: string; sealedUrl: string; expiresAt: number }
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

export interface NewJob<K extends JobKind> {
  jobId: string
  apiKey: string
  kind: K
  payload: JobPayload<K>
  now: number
  /** Default: now. */
  runAt?: number
}

export const add = <K extends JobKind>(db: Db, job: NewJob<K>): Promise<void> => addMany(db, [job])

export async function addMany<K extends JobKind>(db: Db, added: readonly NewJob<K>[]): Promise<void> {
  const rows = added.map(({ jobId, apiKey, kind, payload, now, runAt = now }) => ({
    job_id: jobId,
    api_key: apiKey,
    kind,
    payload: JSON.stringify(payload),
    run_at: runAt,
    created_at: now,
  }))
  await insert(db, rows)
}

const insert = batched(
  { job_id: 'text', api_key: 'text', kind: 'text', payload: 'text', run_at: 'bigint', created_at: 'bigint' },
  ({ row, fromRows }) => sql`
    insert into jobs (job_id, api_key, kind, payload, attempts, run_at, leased_until, created_at)
    select ${row.job_id}, ${row.api_key}, ${row.kind}, ${row.payload}, 0, ${row.run_at}, ${row.run_at}, ${row.created_at}
      ${fromRows}`,
)

/**
 * Of the jobs of the API key that no server has leased, leases the one that has been due longest. Returns undefined if none is
 * due. No lease ends before `run_at`, so an index finds the job, however many others wait.
 */
export function claim(database: Database, apiKey: string, now: number): Promise<Job | undefined> {
  return database.write(async (db) => {
    const due = db
      .selectFrom('jobs')
      .select('job_id')
      .where('api_key', '=', apiKey)
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
  }, apiKey)
}

/** API keys that one statement visits: about 4 ms on SQLite. */
const keysPerStatement = 200

/** The API keys that have a job that is due, in pages. */
export const findDueKeys = (db: Db, now: number) => findKeys(db, -1, now)

/**
 * The API keys that have a job whose lease ends in this time, in pages. Each key is looked up in the index, so it does not
 * matter how many jobs a key has.
 */
async function* findKeys(db: Db, after: number, until: number): AsyncGenerator<string[]> {
  for (let last: string | undefined = ''; last !== undefined;) {
    await yieldIfLate()
    const { rows } = await sql<{ api_key: string; is_found: number }>`
      with recursive visited(api_key, position) as (
        select (select api_key from jobs where api_key > ${last} order by api_key limit 1), 1
        union all
        select (select jobs.api_key from jobs where jobs.api_key > visited.api_key order by jobs.api_key limit 1), position + 1
        from visited where api_key is not null and position < ${sql.lit(keysPerStatement)}
      )
      select api_key, case when exists (
        select 1 from jobs
        where jobs.api_key = visited.api_key and leased_until > ${after} and leased_until <= ${until}
      ) then 1 else 0 end as is_found
      from visited where api_key is not null`.execute(db)
    yield rows.flatMap((row) => (row.is_found ? row.api_key : []))
    last = rows.length === keysPerStatement ? rows.at(-1)?.api_key : undefined
  }
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

/** Ends the lease of a job that did not end because its server stops, as if it had not been started. */
export async function giveBack(db: Db, jobId: string): Promise<void> {
  await db
    .updateTable('jobs')
    .set((eb) => ({ leased_until: eb.ref('run_at'), attempts: sql`attempts - 1` }))
    .where('job_id', '=', jobId)
    .execute()
}

/** Ends all leases. Only for a server that has the database to itself: the leases are from its last run. */
export async function releaseAll(database: Database, now: number): Promise<void> {
  for await (const apiKeys of findKeys(database.read, now, now + leaseMs)) {
    if (apiKeys.length === 0) continue
    await database.write(async (db) => {
      await db
        .updateTable('jobs')
        .set((eb) => ({ leased_until: eb.ref('run_at') }))
        .where('api_key', 'in', apiKeys)
        .where('leased_until', '>', now)
        // Without the limit, it would read all jobs that wait.
        .where('leased_until', '<=', now + leaseMs)
        .where('run_at', '<=', now)
        .execute()
    })
  }
}
