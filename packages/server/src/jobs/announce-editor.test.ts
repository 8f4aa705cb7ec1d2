import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import { tenantWith } from '../../test/rest/webhooks/editor-scene.ts'
import { eventually } from '../../test/support/clients/convergence.ts'
import { stores, useServer } from '../../test/support/harness.ts'
import { ownSignals } from '../../test/support/servers/peers.ts'
import { systemClock } from '../platform/clock.ts'
import * as editors from '../store/editors/editors.ts'
import * as editorLog from '../store/editors/log.ts'
import * as jobs from '../store/jobs.ts'
import { announceEditor } from './announce-editor.ts'

const editor = { organizationId: 'org_1', documentId: 'doc_1', editorId: 'note' }
const lane = jobs.laneOf('crdt.changed')

describe.each(stores)('announcing changes of editors on %s', (store) => {
  // The server never looks for the jobs that a test claims.
  const server = useServer(store, { jobPollMs: 1_000_000 })

  /** A change that is about to be announced. */
  async function scene() {
    const tenant = await tenantWith(server, true)
    const { apiKey, client, events, waiting } = tenant
    await client.crdt.add({ ...editor, data: 'one', type: 'text' })
    const now = Date.now() + 5_000
    const claim = async () =>
      (await jobs.claim(server.database, { apiKey, lane }, now))[0] as jobs.Job<'crdt.changed'>
    const run = async (job: jobs.Job<'crdt.changed'>) =>
      announceEditor.run({
        database: server.database,
        job,
        now,
        clock: systemClock,
        signals: ownSignals(server.database).of(apiKey),
        wake: () => {},
        stopping: new AbortController().signal,
      })
    /** Stores a change of Grace, and commits when `before` resolves. */
    const append = (before: () => Promise<void>) =>
      server.database.write(async (db) => {
        const writer = { userId: 'grace', sessionId: null }
        const entry = { apiKey, editor, update: Uint8Array.of(0, 0), writer, create: null, owners: [] }
        await editorLog.append(db, [entry], Date.now(), new Set([apiKey]))
        await before()
      }, apiKey)
    return { apiKey, events, waiting, claim, run, append }
  }

  const gate = () => {
    let open = () => {}
    const opened = new Promise<void>((resolve) => (open = resolve))
    return { open, opened }
  }

  /** Waits until the work waits for a lock of another transaction, or has ended. On SQLite a writer waits for the other one. */
  const blocked = async (work: Promise<unknown>) => {
    let hasEnded = false
    void work.finally(() => (hasEnded = true))
    const isWaiting = async () => {
      const { rows } = await sql`
        select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`.execute(
        server.database.read,
      )
      return rows.length > 0
    }
    await eventually(async () => store === 'sqlite' || hasEnded || isWaiting()).toBe(true)
  }

  test('[24.2.1] a change that is being stored while the job runs is part of its event', async () => {
    const { events, waiting, claim, run, append } = await scene()
    const job = await claim()
    const [started, commit] = [gate(), gate()]
    const appended = append(async () => {
      started.open()
      await commit.opened
    })
    await started.opened
    const announced = run(job)
    await blocked(announced)
    commit.open()
    await Promise.all([appended, announced])
    await eventually(events).toMatchObject([{ actor: { userId: 'grace' } }])
    expect(await waiting()).toEqual([])
  })

  test('[24.2.1] a change that waits for the job that announces the last one is announced too', async () => {
    const { apiKey, waiting, claim, append } = await scene()
    const job = await claim()
    const [locked, commit] = [gate(), gate()]
    const ended = server.database.write(async (db) => {
      await editors.lock(db, apiKey, editor, job.payload.createdAt)
      await jobs.finish(db, job)
      locked.open()
      await commit.opened
    }, apiKey)
    await locked.opened
    const appended = append(async () => {})
    await blocked(appended)
    commit.open()
    await Promise.all([ended, appended])
    expect(await waiting()).toHaveLength(1)
  })

  test('[24.2.1] a job that failed too often is tried again later', async () => {
    const { waiting, claim, events } = await scene()
    const job = await claim()
    await announceEditor.abandon({ database: server.database, job, now: job.runAt })
    // As the runner does after `abandon`.
    await server.database.write((db) => jobs.finish(db, job))
    expect(await waiting()).toMatchObject([{ run_at: job.runAt + 60_000, attempts: 0 }])
    expect(await events()).toEqual([])
  })
})
