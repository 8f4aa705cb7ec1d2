import { describe, expect, test } from 'vitest'
import { LargeDeletions } from './large-deletions.ts'
import { SteppedClock } from '../../test/support/clock.ts'
import * as given from '../../test/support/given.ts'
import { stores, useServer } from '../../test/support/harness.ts'
import { seed } from '../../test/support/data/large-data.ts'

const organizationId = 'big'

describe.each(stores)('calls that wait for a large deletion on %s', (store) => {
  const server = useServer(store)

  test('[8.4.3] a call that names something that is being deleted is ABORTED after 10 s, and a call after the deletion does not wait', async () => {
    const tenant = await given.tenant(server)
    await given.organization(tenant, organizationId)
    await seed(server.database, tenant.apiKey, organizationId).documents(2_000)
    const { database } = server
    const clock = new SteppedClock(Date.now())
    const deletions = new LargeDeletions({
      database,
      clock,
      onGone() {},
      createAccessChange: () => ({ async store() {}, publish() {} }),
      onFailure() {},
    })
    /** Steps the clock while `work` waits for its timers. */
    const stepThrough = async <T>(work: Promise<T>, stepMs: number, untilMs: number) => {
      let isOver = false
      void work.finally(() => (isOver = true)).catch(() => {})
      while (!isOver && clock.elapsed() < untilMs) {
        if (clock.pending > 0) clock.step(stepMs)
        await new Promise((resolve) => setImmediate(resolve))
      }
      return isOver
    }

    const beginning = deletions.begin(tenant.apiKey, { organizationIds: [organizationId] }, async () => true)
    await stepThrough(beginning, 50, Infinity)
    const { deletion } = (await beginning)!

    const named = { organizationIds: [organizationId], documentIds: ['d1'], folderIds: [] }
    const call = () =>
      deletions.waitWhileAffected(tenant.apiKey, named).then(
        () => 'done',
        (error: { status: string }) => error.status,
      )
    const calledAtMs = clock.elapsed()
    const waiting = call()
    expect(await stepThrough(waiting, 1, calledAtMs + 9_999)).toBe(false)
    await stepThrough(waiting, 1, calledAtMs + 10_001)
    expect(await waiting).toBe('ABORTED')

    await database.write((db) => deletions.removeRecord(db, deletion))
    deletions.onCallEnded(deletion, true)
    expect(await call()).toBe('done')
  })
})
