import { expect, onTestFinished, test } from 'vitest'
import { openDatabase } from '../../src/store/engine/open.ts'
import { createPostgresDatabase } from '../support/harness.ts'

async function openPool(poolSize: number) {
  const url = await createPostgresDatabase()
  const database = await openDatabase({ url, dataDir: '', durability: 'relaxed', poolSize })
  onTestFinished(() => database.close())
  return database
}

test('[S1.1] transactions of one tenant that wait for each other leave connections to PostgreSQL for other tenants', async () => {
  const poolSize = 4
  const database = await openPool(poolSize)
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

test('[S1.1] a transaction of the server itself that collides again and again delays no other one', async () => {
  const database = await openPool(2)
  const collision = () => Object.assign(new Error('could not serialize access'), { code: '40001' })
  const state = { attempts: 0, isStuck: true }
  const stuck = database.write(async () => {
    state.attempts++
    if (state.isStuck) throw collision()
  })
  const ended = stuck.finally(() => (state.isStuck = false))
  await expect.poll(() => state.attempts).toBeGreaterThan(3)
  let attempts = 0
  await database.write(async () => {
    if (++attempts === 1) throw collision()
  })
  expect(state.isStuck).toBe(true)
  state.isStuck = false
  await ended
})
