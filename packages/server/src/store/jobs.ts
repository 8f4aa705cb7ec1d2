import { sql } from 'kysely'
import { yieldIfLate } from '../platform/turns/loop-time.ts'
import { batched } from './engine/batched.ts'
import type { Database, Db } from './engine/db.ts'
import { parse } from './engine/json.ts'
import type { PendingNotification } from './notifications/pending.ts'
import type { EditorRef } from './refs.ts'

/** Every kind of background job and its payload. */
export interface Jobs {
  'document.migrate': { organizationId: string; migrationId: string }
  'users.erase': { erasureId: string }
  'notification.deliver': { organizationId: string; notificationId: string }
  'crdt.changed': EditorRef & { createdAt: number }
  /** The API key of the job is the workspace of the owner. */
  'email.loginLink': { email: string; sealedUrl: string; expiresAt: number }
  /** The event as it was recorded. Who gets a webhook about it is not known yet. */
  'webhook.dispatch': { event: object }
  'webhook.send': { deliveryId: string }
  /** An event that is sent by email. Who gets a mail about it is not known yet. */
  'email.prepare': { notificationId: string; event: MailedEvent; isBatched: boolean }
  /** Sends the digests of the batch that ended at this time. */
  'email.digest': { organizationId: string; endedAt: number }
  'email.send': { deliveryId: string }
}

/** An event about an annotation, as far as emails need it. */
export type MailedEvent = Pick<
  PendingNotification,
  'organizationId' | 'documentId' | 'annotationId' | 'commentId' | 'name' | 'actorId' | 'seq'
>

export type JobKind = keyof Jobs
export type JobPayload<K extends JobKind> = Jobs[K]

/**
 * Jobs of one lane start in the order in which they are due. Lanes do not wait for each other. The name is empty, or begins
 * with the kind of the jobs in it.
 */
export interface Lane {
  apiKey: string
  lane: string
}

/** A job that this server has claimed. */
export interface Job<K extends JobKind = JobKind> extends Lane {
  jobId: string
  kind: K
  payload: JobPayload<K>
  /** When the job was due. */
  runAt: number
  /** How many times the job was started, including this attempt. */
  attempts: number
  /** The number of this claim. Functions that change the job have no effect once another claim was made. */
  claim: number
}

/** What identifies a claim. */
export type Claim = Pick<Job, 'apiKey' | 'jobId' | 'claim'>

/** Thrown if a job that this server has claimed was taken over by another one, or is gone. */
export class ClaimLost extends Error {
  override name = 'ClaimLost'
  override message = 'Another server has taken over the job.'
}

/** The lease of a running job is renewed long before this time is over. Then its server has died or is blocked. */
export const leaseMs = 25_000

export interface NewJob<K extends JobKind> {
  jobId: string
  apiKey: string
  kind: K
  payload: JobPayload<K>
  now: number
  /** Default: now. */
  runAt?: number
  /** Default: the lane that all kinds share. */
  lane?: string
}

/** The name of a lane for one kind of jobs: `webhook.send/ep_1`. */
export const laneOf = (kind: JobKind, name = ''): string => `${kind}/${name}`

/** The kind of the jobs in a lane. Undefined: the lane that all kinds share. */
export const kindOfLane = (lane: string): JobKind | undefined =>
  lane === '' ? undefined : (lane.slice(0, lane.indexOf('/')) as JobKind)

export const add = <K extends JobKind>(db: Db, job: NewJob<K>): Promise<void> => addMany(db, [job])

/** Adds the jobs. A job whose id a waiting job has is left out. */
export async function addMany<K extends JobKind>(db: Db, added: readonly NewJob<K>[]): Promise<void> {
  const rows = added.map(({ jobId, apiKey, kind, payload, now, runAt = now, lane = '' }) => ({
    api_key: apiKey,
    job_id: jobId,
    lane,
    kind,
    payload: JSON.stringify(payload),
    run_at: runAt,
    created_at: now,
  }))
  await insert(db, rows)
}

const insert = batched(
  {
    api_key: 'text',
    job_id: 'text',
    lane: 'text',
    kind: 'text',
    payload: 'text',
    run_at: 'bigint',
    created_at: 'bigint',
  },
  ({ row, fromRows }) => sql`
    insert into jobs (api_key, job_id, lane, kind, payload, attempts, claims, run_at, available_at, created_at)
    select ${row.api_key}, ${row.job_id}, ${row.lane}, ${row.kind}, ${row.payload}, 0, 0, ${row.run_at}, ${row.run_at},
      ${row.created_at} ${fromRows}
    where true
    on conflict do nothing`,
)

/**
 * The ids of the jobs of the lane that no server has leased: up to `max` that have been due longest. No lease ends before
 * `run_at`, so an index finds them, however many others wait.
 */
export const selectDue = (db: Db, { apiKey, lane }: Lane, now: number, max: number) =>
  db
    .selectFrom('jobs')
    .select('job_id')
    .where('api_key', '=', apiKey)
    .where('lane', '=', lane)
    .where('available_at', '<=', now)
    .orderBy('available_at')
    .limit(max)

/** Leases the jobs that `selectDue` finds, and returns them in the order in which they are due. */
export function claim(database: Database, { apiKey, lane }: Lane, now: number, max = 1): Promise<Job[]> {
  return database.write(async (db) => {
    const due = selectDue(db, { apiKey, lane }, now, max).$if(database.dialect === 'postgres', (query) =>
      query.forUpdate().skipLocked(),
    )
    const rows = await db
      .updateTable('jobs')
      .set({ available_at: now + leaseMs, attempts: sql`attempts + 1`, claims: sql`claims + 1` })
      .where('api_key', '=', apiKey)
      .where('job_id', 'in', due)
      .returning(['job_id', 'kind', 'payload', 'run_at', 'attempts', 'claims'])
      .execute()
    const jobs = rows.map((row) => ({
      apiKey,
      lane,
      jobId: row.job_id,
      kind: row.kind as JobKind,
      payload: parse<JobPayload<JobKind>>(row.payload),
      runAt: row.run_at,
      attempts: row.attempts,
      claim: row.claims,
    }))
    return jobs.sort((a, b) => a.runAt - b.runAt)
  }, apiKey)
}

/** API keys whose lanes one statement visits. A key has at most about 60 lanes: about 20 ms on SQLite. */
const keysPerStatement = 20

/** The lanes that have a job that is due, in pages. */
export const findDueLanes = (db: Db, now: number) => findLanes(db, -1, now)

/**
 * The lanes that have a job that becomes available in this time, in pages. Each lane is looked up in the index, so it does not
 * matter how many jobs a lane has.
 */
async function* findLanes(db: Db, after: number, until: number): AsyncGenerator<Lane[]> {
  for (let last: string | undefined = ''; last !== undefined;) {
    await yieldIfLate()
    const { rows } = await sql<{ api_key: string; lane: string; is_found: number }>`
      with recursive keys(api_key, position) as (
        select (select api_key from jobs where api_key > ${last} order by api_key limit 1), 1
        union all
        select (select jobs.api_key from jobs where jobs.api_key > keys.api_key order by jobs.api_key limit 1), position + 1
        from keys where api_key is not null and position < ${sql.lit(keysPerStatement)}
      ), lanes(api_key, lane) as (
        select api_key, (select lane from jobs where jobs.api_key = keys.api_key order by lane limit 1)
        from keys where api_key is not null
        union all
        select api_key, (
          select jobs.lane from jobs where jobs.api_key = lanes.api_key and jobs.lane > lanes.lane order by jobs.lane limit 1
        ) from lanes where lane is not null
      )
      select api_key, lane, case when exists (
        select 1 from jobs
        where jobs.api_key = lanes.api_key and jobs.lane = lanes.lane
          and available_at > ${after} and available_at <= ${until}
      ) then 1 else 0 end as is_found
      from lanes where lane is not null`.execute(db)
    yield rows.flatMap(({ api_key: apiKey, lane, is_found }) => (is_found ? { apiKey, lane } : []))
    const apiKeys = [...new Set(rows.map(({ api_key }) => api_key))].sort()
    last = apiKeys.length === keysPerStatement ? apiKeys.at(-1) : undefined
  }
}

/** Removes the job. Returns false if another server has claimed or finished it. See `finishOrFail`. */
export async function finish(db: Db, job: Claim): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('jobs')
    .where('api_key', '=', job.apiKey)
    .where('job_id', '=', job.jobId)
    .where('claims', '=', job.claim)
    .executeTakeFirst()
  return numDeletedRows > 0n
}

/** The row of the job, while the claim holds. */
const updateClaimed = (db: Db, { apiKey, jobId, claim }: Claim) =>
  db.updateTable('jobs').where('api_key', '=', apiKey).where('job_id', '=', jobId).where('claims', '=', claim)

async function changeClaimed(change: { executeTakeFirst(): Promise<{ numUpdatedRows: bigint }> }) {
  const { numUpdatedRows } = await change.executeTakeFirst()
  if (numUpdatedRows === 0n) throw new ClaimLost()
}

/** As `finish`, but fails with `ClaimLost`: the transaction must not be committed then. */
export async function finishOrFail(db: Db, job: Claim): Promise<void> {
  if (!(await finish(db, job))) throw new ClaimLost()
}

/**
 * Prolongs the leases of running jobs. A claim that was lost stays lost. On PostgreSQL, a job whose row is locked is left
 * out: the lock is of a transaction of this job, which prolongs the lease itself.
 */
export const renewAll = async (db: Db, claims: readonly Claim[], now: number): Promise<void> => {
  await renewMany(
    db,
    claims.map(({ apiKey, jobId, claim }) => ({
      api_key: apiKey,
      job_id: jobId,
      claims: claim,
      available_at: now + leaseMs,
    })),
  )
}

const renewMany = batched(
  { api_key: 'text', job_id: 'text', claims: 'bigint', available_at: 'bigint' },
  ({ row, fromRows, isPostgres }) => {
    const isRow = sql`jobs.api_key = ${row.api_key} and jobs.job_id = ${row.job_id} and jobs.claims = ${row.claims}`
    return isPostgres
      ? sql`update jobs set available_at = ${row.available_at} ${fromRows} where ${isRow} and exists (
          select 1 from jobs where api_key = ${row.api_key} and job_id = ${row.job_id} for update skip locked
        )`
      : sql`update jobs set available_at = ${row.available_at} where ${isRow}`
  },
)

/**
 * Locks the row of the job, and prolongs its lease. Fails with `ClaimLost` if another server has claimed the job: the
 * transaction must not be committed then.
 */
export const hold = (db: Db, job: Claim, now: number): Promise<void> =>
  changeClaimed(updateClaimed(db, job).set({ available_at: now + leaseMs }))

/** Makes the jobs run at this time, as if they had never run. Claims of other servers are lost. */
export async function reschedule(
  db: Db,
  apiKey: string,
  jobIds: readonly string[],
  runAt: number,
): Promise<void> {
  if (jobIds.length === 0) return
  await db
    .updateTable('jobs')
    .set({ run_at: runAt, available_at: runAt, attempts: 0, claims: sql`claims + 1` })
    .where('api_key', '=', apiKey)
    .where('job_id', 'in', jobIds)
    .execute()
}

/** Ends the lease. The job does not run before `runAt`. Fails with `ClaimLost` if another server has claimed the job. */
export const postpone = (db: Db, job: Claim, runAt: number): Promise<void> =>
  changeClaimed(updateClaimed(db, job).set({ run_at: runAt, available_at: runAt }))

/** As `postpone`, for a job that has done its part: the attempts that failed before are forgotten. */
export const continueAt = (db: Db, job: Claim, runAt: number): Promise<void> =>
  changeClaimed(updateClaimed(db, job).set({ run_at: runAt, available_at: runAt, attempts: 0 }))

/**
 * Prolongs the lease of a job that makes progress, and forgets the attempts that failed before. Fails with `ClaimLost` if
 * another server has claimed the job.
 */
export const recordProgress = (db: Db, job: Claim, now: number): Promise<void> =>
  changeClaimed(updateClaimed(db, job).set({ attempts: 1, available_at: now + leaseMs }))

/** Ends the lease of a job that did not end because its server stops, as if it had not been started. */
export async function giveBack(db: Db, job: Claim): Promise<void> {
  await updateClaimed(db, job)
    .set((eb) => ({ available_at: eb.ref('run_at'), attempts: sql`attempts - 1` }))
    .execute()
}

/** Ends all leases. Only for a server that has the database to itself: the leases are from its last run. */
export async function releaseAll(database: Database, now: number): Promise<void> {
  for await (const lanes of findLanes(database.read, now, now + leaseMs)) {
    for (const { apiKey, lane } of lanes) {
      await database.write(async (db) => {
        await db
          .updateTable('jobs')
          .set((eb) => ({ available_at: eb.ref('run_at') }))
          .where('api_key', '=', apiKey)
          .where('lane', '=', lane)
          .where('available_at', '>', now)
          // Without the limit, it would read all jobs that wait.
          .where('available_at', '<=', now + leaseMs)
          .where('run_at', '<=', now)
          .execute()
      })
    }
  }
}
