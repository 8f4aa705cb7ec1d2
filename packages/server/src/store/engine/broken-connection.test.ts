import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { startServer } from '../../../test/support/harness.ts'
import { isUnavailable } from './failures.ts'

test('[O1] a broken connection is reported as unavailable, whether the driver notices it at once or later', async () => {
  const server = await startServer('postgres')
  const { write } = server.database
  const end = sql`select pg_terminate_backend(pg_backend_pid())`
  const atOnce = await write((db) => end.execute(db)).catch((error: unknown) => error)
  const later = await write(async (db) => {
    await end.execute(db).catch(() => {})
    // The driver notices the end of the connection after the answer.
    await expect.poll(() => sql`select 1`.execute(db).catch(String)).toMatch(/not queryable/)
    await sql`select 1`.execute(db)
  }).catch((error: unknown) => error)
  expect([atOnce, later].map(isUnavailable)).toEqual([true, true])
  expect((await fetch(`${server.url}/readyz`)).status).toBe(200)
  await server.stop()
})
