import { pino } from 'pino'
import { expect, onTestFinished, test } from 'vitest'
import { SteppedClock } from '../../test/support/clock.ts'
import * as given from '../../test/support/given.ts'
import { useServer } from '../../test/support/harness.ts'
import { newId } from '../access/ids.ts'
import { createServerBus } from '../bus.ts'
import { createMetrics } from '../platform/metrics/metrics.ts'
import * as migrations from '../store/documents/document-migrations.ts'
import type { Database } from '../store/engine/db.ts'
import * as jobs from '../store/jobs.ts'
import { createJobRunner } from './runner.ts'

const server = useServer('sqlite')
const organizationId = 'o1'
const yearMs = 365 * 24 * 60 * 60 * 1000

/** A runner whose clock is a year ahead, so that the runner of the server never claims its jobs. */
async function scene() {
  const { apiKey, client } = await given.tenant(server)
  await client.organizations.add({ organizations: [{ organizationId }] })
  const clock = new SteppedClock(Date.now() + yearMs)
  const logged: string[] = []
  const log = pino({ base: undefined }, { write: (line: string) => void logged.push(line) })
  let mayFail = false
  const database: Database = {
    ...server.database,
    // The runner itself writes without a lane. The job writes in the lane of its API key.
    write: (work, lane) =>
      mayFail && lane === apiKey ? Promise.reject(new Error('broken')) : server.database.write(work, lane),
  }
  const runner = createJobRunner({
    database,
    bus: createServerBus(log),
    removeInSteps: async () => false,
    resumeDeletions: () => {},
    permissionProvider: {} as never,
    log,
    clock,
    observe: createMetrics().job,
  })
  onTestFinished(() => runner.stop())
  const addJob = async () => {
    const migrationId = newId('mig')
    await server.database.write(async (db) => {
      const migration = { migrationId, documentId: 'old', newDocumentId: 'new' }
      await migrations.add(db, apiKey, organizationId, migration, clock.now())
      const payload = { organizationId, migrationId }
      await jobs.add(db, {
        jobId: newId('job'),
        apiKey,
        kind: 'document.migrate',
        payload,
        now: clock.now(),
      })
    })
    return migrationId
  }
  const status = async (migrationId: string) =>
    (await migrations.find(server.database.read, apiKey, organizationId, migrationId))?.status
  const failures = () => logged.filter((line) => line.includes('job failed')).length
  const setFailing = (isFailing: boolean) => void (mayFail = isFailing)
  return { clock, runner, addJob, status, failures, setFailing }
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
  const { clock, runner, addJob, status, failures, setFailing } = await scene()
  setFailing(true)
  const migrationId = await addJob()
  await runner.start()
  await expect.poll(failures).toBe(1)
  for (const [index, waitMs] of [2_000, 4_000].entries()) {
    await runner.idle()
    clock.step(waitMs)
    runner.wake()
    await expect.poll(failures).toBe(index + 2)
  }
  expect(await status(migrationId)).toBe('pending')
  setFailing(false)
  await runner.idle()
  clock.step(7_999)
  runner.wake()
  await runner.idle()
  expect(await status(migrationId)).toBe('pending')
  clock.step(1)
  runner.wake()
  await expect.poll(() => status(migrationId)).toBe('failed')
})
