import { expect, onTestFinished, test } from 'vitest'
import { openDatabase } from '../../src/store/engine/open.ts'
import { createPostgresDatabase } from '../support/harness.ts'

test('[S1.1] transactions of one tenant that wait for each other leave connections to PostgreSQL for other tenants', async () => {
  const poolSize = 4
  const url = await createPostgresDatabase()
  const database = await openDatabase({ url, dataDir: '', durability: 'relaxed', poolSize })
  onTestFinished(() => database.close())
  let release = () => {}
  const released = new Promise<void>((resolve) => (release = resolve))
  let running = 0
  const waiting = Array.from({ length: 3 * poolSize }, () =>
    database.write(async () => {
      running++
      await released
    }, 'busy'),
  )
  await expect.poll(() => running).toBe(poolSize / 2)
  expect(await database.write(async () => 'written', 'other')).toBe('written')
  expect(running).toBe(poolSize / 2)
  release()
  await Promise.all(waiting)
  expect(running).toBe(3 * poolSize)
})
