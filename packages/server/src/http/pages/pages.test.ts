import Fastify from 'fastify'
import { expect, onTestFinished, test } from 'vitest'
import { SteppedClock } from '../../../test/support/clock.ts'
import { createMetrics } from '../../platform/metrics/metrics.ts'
import { mountPages } from './pages.ts'

function pagesOf(ping: () => Promise<void>) {
  const clock = new SteppedClock()
  const app = Fastify()
  onTestFinished(() => app.close())
  const database = { ping, isDiskFull: () => false, dialect: 'sqlite', durability: 'full' } as never
  mountPages(app, { database, metrics: createMetrics(), userTokens: {} as never, clock })
  return { app, clock }
}

test('[O1] [O2.2] /readyz answers 503 after two seconds when the database does not respond', async () => {
  const { app, clock } = pagesOf(() => new Promise(() => {}))
  let isAnswered = false
  const answer = app.inject('/readyz').then((response) => {
    isAnswered = true
    return response
  })
  await expect.poll(() => clock.pending).toBe(1)
  clock.step(1999)
  await new Promise(setImmediate)
  expect(isAnswered).toBe(false)
  clock.step(1)
  expect((await answer).statusCode).toBe(503)
  expect(clock.pending).toBe(0)
})

test('[O1] /readyz pings the database once for concurrent requests, and again for later ones', async () => {
  const pings: (() => void)[] = []
  const { app, clock } = pagesOf(() => new Promise((resolve) => void pings.push(resolve)))
  const answers = [app.inject('/readyz'), app.inject('/readyz')]
  await expect.poll(() => pings.length).toBe(1)
  pings[0]?.()
  expect((await Promise.all(answers)).map(({ statusCode }) => statusCode)).toEqual([200, 200])
  expect(pings).toHaveLength(1)
  expect(clock.pending).toBe(0)
  const later = app.inject('/readyz')
  await expect.poll(() => pings.length).toBe(2)
  pings[1]?.()
  expect((await later).statusCode).toBe(200)
})
