import { pino } from 'pino'
import { expect, onTestFinished, test } from 'vitest'
import { SteppedClock } from '../../test/support/clock.ts'
import * as given from '../../test/support/given.ts'
import { useServer } from '../../test/support/harness.ts'
import { newId } from '../access/ids.ts'
import { ownSignals } from '../../test/support/servers/peers.ts'
import { createMetrics } from '../platform/metrics/metrics.ts'
import * as migrations from '../store/documents/document-migrations.ts'
import type { Database } from '../store/engine/db.ts'
import * as jobs from '../store/jobs.ts'
import { createJobHandlers } from './handlers.ts'
import { createJobRunner } from './runner.ts'

const server = useServer('sqlite', { isOwn: true })
const organizationId = 'o1'
const yearMs = 365 * 24 * 60 * 60 * 1000

/** A runner whose clock is a year ahead, so that the runner of the server never claims its jobs. */
async function scene(database: Database = server.database) {
  const { apiKey, client } = await given.tenant(server)
  await client.organizations.add({ organizations: [{ organizationId }] })
  const clock = new SteppedClock(Date.now() + yearMs)
  const logged: string[] = []
  const log = pino({ base: undefined }, { write: (line: string) => void logged.push(line) })
  let isFailing = false
  /** The documents of the jobs that were started. */
  const started: string[] = []
  const handlers = createJobHandlers({
    removeInSteps: async (_, { documentIds }) => {
      started.push(...documentIds)
      if (isFailing) throw new Error('broken')
      return false
    },
    resumeDeletions: () => {},
    permissionProvider: {} as never,
    sendEmail: {} as never,
    secrets: {} as never,
    log,
    deliverWebhook: {} as never,
    deliverMail: {} as never,
  })
  const signals = ownSignals(database)
  const runner = createJobRunner({ database, handlers, signals, log, clock, observe: createMetrics().job })
  onTestFinished(() => runner.stop())
  const addJob = async (documentId = 'old', delayMs = 0) => {
    const migrationId = newId('mig')
    await server.database.write(async (db) => {
      const migration = { migrationId, documentId, newDocumentId: 'new' }
      await migrations.add(db, apiKey, organizationId, migration, clock.now())
      const payload = { organizationId, migrationId }
      await jobs.add(db, {
        jobId: newId('job'),
        apiKey,
        kind: 'document.migrate',
        payload,
        now: clock.now(),
        runAt: clock.now() + delayMs,
      })
    })
    return migrationId
  }
  const status = async (migrationId: string) =>
    (await migrations.find(server.database.read, apiKey, organizationId, migrationId))?.status
  const failures = () => logged.filter((line) => line.includes('job failed')).length
  const setFailing = (value: boolean) => void (isFailing = value)
  const wake = () => runner.wake(apiKey)
  return { clock, runner, wake, addJob, started, status, failures, setFailing }
}

test('[10.9] without a call of `wake`, the job runner finds a job when it polls after 5 s', async () => {
  const { clock, runner, addJob, status } = await scene()
  await runner.start()
  const migrationId = await addJob()
  clock.step(4_999)
  expect(await status(migrationId)).toBe('pending')
  clock.step(1)
  // The migration fails, because the document does not exist.
  await expect.poll(() => status(migrationId)).toBe('failed')
})

test('[10.9] the job runner tries a failing job again after 2 s and then 4 s, and abandons it 8 s later', async () => {
  const { clock, runner, wake, addJob, status, failures, setFailing } = await scene()
  setFailing(true)
  const migrationId = await addJob()
  await runner.start()
  await expect.poll(failures).toBe(1)
  for (const [index, waitMs] of [2_000, 4_000].entries()) {
    await runner.idle()
    clock.step(waitMs)
    wake()
    await expect.poll(failures).toBe(index + 2)
  }
  expect(await status(migrationId)).toBe('in_progress')
  setFailing(false)
  await runner.idle()
  clock.step(7_999)
  wake()
  await runner.idle()
  expect(await status(migrationId)).toBe('in_progress')
  clock.step(1)
  wake()
  await expect.poll(() => status(migrationId)).toBe('failed')
})

test('[S9] the jobs of an API key run in the order in which they are due', async () => {
  const { clock, runner, wake, addJob, started } = await scene()
  const delays = [3, 1, 5, 2, 4]
  for (const delay of delays) await addJob(`due ${delay}`, delay)
  clock.step(4)
  await runner.start()
  await runner.idle()
  expect(started).toEqual(['due 1', 'due 2', 'due 3', 'due 4'])
  clock.step(1)
  wake()
  await runner.idle()
  expect(started).toEqual(['due 1', 'due 2', 'due 3', 'due 4', 'due 5'])
})

test('[S9.1] jobs of many API keys run at most 4 transactions at the same time', async () => {
  let running = 0
  const seen: number[] = []
  const write: Database['write'] = async (work, lane) => {
    seen.push(++running)
    try {
      return await server.database.write(work, lane)
    } finally {
      running--
    }
  }
  const { clock, runner } = await scene({ ...server.database, write })
  const payload = { organizationId, notificationId: 'gone' }
  const now = clock.now()
  await server.database.write(async (db) => {
    for (let key = 0; key < 20; key++) {
      const job = { jobId: newId('job'), apiKey: `key ${key}`, kind: 'notification.deliver' as const }
      await jobs.add(db, { ...job, payload, now })
    }
  })
  await runner.start()
  await runner.idle()
  // Each key claims its job, removes it, and finds no other one.
  expect(seen.length).toBeGreaterThanOrEqual(60)
  expect(Math.max(...seen)).toBe(4)
})
