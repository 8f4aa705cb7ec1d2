import { sql } from 'kysely'
import { pino } from 'pino'
import { describe, expect, onTestFinished, test } from 'vitest'
import { SteppedClock } from '../../test/support/clock.ts'
import * as given from '../../test/support/given.ts'
import { stores, useServer } from '../../test/support/harness.ts'
import { newId } from '../access/ids.ts'
import { ownSignals } from '../../test/support/servers/peers.ts'
import { createMetrics } from '../platform/metrics/metrics.ts'
import type { Db } from '../store/engine/db.ts'
import * as jobs from '../store/jobs.ts'
import type { JobHandler, JobHandlers } from './job.ts'
import { createJobRunner } from './runner.ts'

const kind = 'users.erase' as const
const yearMs = 365 * 24 * 60 * 60 * 1000

/** Ends when the test calls `release`. */
function gate() {
  let release = () => {}
  const opened = new Promise<void>((resolve) => (release = resolve))
  return { opened, release }
}

describe.each(stores)('claims of jobs on %s', (store) => {
  const server = useServer(store, { isOwn: true })

  /** Runners with their own clocks, a year ahead, so that the runner of the server never claims their jobs. */
  async function scene() {
    const { apiKey } = await given.tenant(server)
    const startAt = Date.now() + yearMs
    const logged: string[] = []
    const runner = (handler: Pick<JobHandler<typeof kind>, 'run'> & Partial<JobHandler<typeof kind>>) => {
      const clock = new SteppedClock(startAt)
      const log = pino({ base: undefined }, { write: (line: string) => void logged.push(line) })
      const handlers = { [kind]: { abandon: async () => {}, ...handler } } as unknown as JobHandlers
      const { database } = server
      const created = createJobRunner({
        database: { ...database, exclusive: false },
        handlers,
        signals: ownSignals(database),
        log,
        clock,
        observe: createMetrics().job,
      })
      onTestFinished(() => created.stop())
      return { clock, ...created, wake: (lane = '') => created.wake(apiKey, lane) }
    }
    const addJob = (erasureId: string, lane = '') =>
      server.database.write((db) =>
        jobs.add(db, { jobId: newId('job'), apiKey, kind, payload: { erasureId }, now: startAt, lane }),
      )
    const left = async () => {
      const rows = await server.database.read
        .selectFrom('jobs')
        .select('job_id')
        .where('api_key', '=', apiKey)
        .execute()
      return rows.length
    }
    const availableAt = async (erasureId: string) => {
      const row = await server.database.read
        .selectFrom('jobs')
        .select('available_at')
        .where('api_key', '=', apiKey)
        .where('payload', '=', JSON.stringify({ erasureId }))
        .executeTakeFirstOrThrow()
      return row.available_at
    }
    return { apiKey, runner, addJob, left, logged, availableAt }
  }

  test('[S9.2] while a job runs its lease is renewed, and no other server starts it', async () => {
    const { runner, addJob, left, availableAt } = await scene()
    const { opened, release } = gate()
    const started: string[] = []
    const first = runner({
      run: async () => {
        started.push('first')
        await opened
      },
    })
    const second = runner({ run: async () => void started.push('second') })
    await addJob('long')
    await first.start()
    await expect.poll(() => started).toEqual(['first'])
    await second.start()
    for (let renewals = 0; renewals < 30; renewals++) {
      first.clock.step(jobs.leaseMs / 5)
      await expect.poll(() => availableAt('long')).toBe(first.clock.now() + jobs.leaseMs)
      second.clock.step(jobs.leaseMs / 5)
      second.wake()
      await second.idle()
    }
    expect(started).toEqual(['first'])
    release()
    await expect.poll(left).toBe(0)
  })

  test.runIf(store === 'postgres')(
    '[S9.2] the leases of other jobs are renewed while a transaction of one job is open',
    async () => {
      const { runner, addJob, availableAt } = await scene()
      const { opened, release } = gate()
      const started: string[] = []
      const one = runner({
        run: async ({ job, database }) => {
          const wait = (what: string) => (started.push(what), opened)
          if (job.lane === 'writes') await database.write(() => wait('writes'), job.apiKey)
          else await wait('waits')
        },
      })
      onTestFinished(release)
      await addJob('writing', 'writes')
      await addJob('waiting')
      await one.start()
      await expect.poll(() => started.toSorted()).toEqual(['waits', 'writes'])
      const before = await availableAt('writing')
      one.clock.step(jobs.leaseMs / 5)
      await expect.poll(() => availableAt('waiting')).toBe(one.clock.now() + jobs.leaseMs)
      expect(await availableAt('writing')).toBe(before)
      release()
      await one.idle()
    },
  )

  test('[S9.2] a server that was stopped for longer than its lease cannot end or postpone the job that another server has taken over, or write anything else for it', async () => {
    const { runner, addJob, left, logged } = await scene()
    const { opened, release } = gate()
    const steps: string[] = []
    // Its clock stands still: it renews nothing, as a process that the operating system has stopped.
    const paused = runner({
      async run({ job, database }) {
        steps.push(`paused, claim ${job.claim}`)
        await opened
        const changes: ((db: Db) => Promise<unknown>)[] = [
          (db: Db) => jobs.recordProgress(db, job, 0),
          (db: Db) => jobs.postpone(db, job, 0),
          (db: Db) => jobs.giveBack(db, job),
          (db: Db) => jobs.finish(db, job),
          // A write that knows nothing of the job.
          (db: Db) => db.insertInto('locks').values({ name: 'stale', taken: 1, taken_at: 0 }).execute(),
        ]
        for (const change of changes) {
          await expect(database.write(change, job.apiKey)).rejects.toThrow(jobs.ClaimLost)
        }
        // The runner itself is not fenced.
        await server.database.write((db) => jobs.giveBack(db, job), job.apiKey)
        expect(await server.database.write((db) => jobs.finish(db, job), job.apiKey)).toBe(false)
        steps.push('paused continued')
      },
    })
    const other = gate()
    const taker = runner({
      async run({ job }) {
        steps.push(`taker, claim ${job.claim}`)
        await other.opened
      },
    })
    // Otherwise the runners would wait for their jobs after a failure.
    onTestFinished(() => {
      release()
      other.release()
    })
    await addJob('once')
    await paused.start()
    await expect.poll(() => steps).toHaveLength(1)
    taker.clock.step(jobs.leaseMs)
    await taker.start()
    await expect.poll(() => steps).toEqual(['paused, claim 1', 'taker, claim 2'])
    release()
    await paused.idle()
    expect(steps.at(-1)).toBe('paused continued')
    expect(await left()).toBe(1)
    expect(
      await server.database.read.selectFrom('locks').select('name').where('name', '=', 'stale').execute(),
    ).toEqual([])
    expect(logged.join()).toContain('job was taken over by another server')
    other.release()
    await taker.idle()
    expect(await left()).toBe(0)
  })

  test('[S9.3] a lane runs as many jobs at the same time as its kind allows, in the order in which they are due', async () => {
    const { runner, addJob, left } = await scene()
    const lane = jobs.laneOf(kind, 'one')
    const started: string[] = []
    const gates = new Map<string, ReturnType<typeof gate>>()
    const { start, idle } = runner({
      concurrency: 3,
      run({ job }) {
        started.push(job.payload.erasureId)
        const held = gate()
        gates.set(job.payload.erasureId, held)
        return held.opened
      },
    })
    for (const name of ['a', 'b', 'c', 'd', 'e']) await addJob(name, lane)
    await start()
    await expect.poll(() => started.length).toBe(3)
    expect(await left()).toBe(5)
    for (const held of gates.values()) held.release()
    await expect.poll(() => started.length).toBe(5)
    for (const held of gates.values()) held.release()
    await idle()
    expect(await left()).toBe(0)
    expect(started.slice().sort()).toEqual(['a', 'b', 'c', 'd', 'e'])
  })

  test('[S9.3] a lane whose jobs hang delays no other lane of the same API key', async () => {
    const { runner, addJob, left } = await scene()
    const { opened, release } = gate()
    const done: string[] = []
    const { start, idle } = runner({
      async run({ job: { lane, payload } }) {
        if (lane.endsWith('hanging')) await opened
        done.push(payload.erasureId)
      },
    })
    for (let count = 0; count < 20; count++) await addJob(`h${count}`, jobs.laneOf(kind, 'hanging'))
    await addJob('other lane', jobs.laneOf(kind, 'other'))
    await addJob('shared lane')
    await start()
    await expect.poll(() => done.slice().sort()).toEqual(['other lane', 'shared lane'])
    expect(await left()).toBe(20)
    release()
    await idle()
    expect(done).toHaveLength(22)
  })

  test('[S9.4] claiming a job reads as many rows with 100,000 waiting jobs as with 1,000', async () => {
    const { apiKey } = await scene()
    const now = Date.now() + yearMs
    /** What the database does to find jobs among this many, without times. */
    const planOf = async (count: number) => {
      const lane = jobs.laneOf(kind, String(count))
      await server.database.write((db) =>
        sql`with recursive numbers(n) as (select 0 union all select n + 1 from numbers where n + 1 < ${sql.lit(count)})
          insert into jobs select ${apiKey}, ${lane} || n, ${lane}, ${kind}, '{}', 0, 0, ${sql.lit(now)} + n, ${sql.lit(now)} + n, 0
          from numbers`.execute(db),
      )
      const due = jobs.selectDue(server.database.read, { apiKey, lane }, now + count, 4)
      const plan =
        store === 'sqlite'
          ? await due.explain(undefined, sql`query plan`)
          : await due.explain('text', sql`analyze, costs off, timing off, summary off`)
      const claimed = await jobs.claim(server.database, { apiKey, lane }, now + count, 4)
      expect(claimed.map(({ runAt }) => runAt - now)).toEqual([0, 1, 2, 3])
      return JSON.stringify(plan)
        .replaceAll(/\d{4,}/g, 'n')
        .replace(lane, 'lane')
    }
    const few = await planOf(1_000)
    expect(await planOf(100_000)).toBe(few)
    expect(few).toMatch(store === 'sqlite' ? /available_at<\?/ : /Index Scan.*rows=4/)
    expect(few).not.toMatch(/TEMP B-TREE|Sort|Removed/)
  })
})
