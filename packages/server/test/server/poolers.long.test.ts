import { expect, test } from 'vitest'
import { newFolder } from '../support/data/folders.ts'
import { runCommand } from '../support/processes/process.ts'
import { SECRET_KEY } from '../support/processes/settings.ts'
import { startForgetfulPgBouncer } from '../support/services/pgbouncer.ts'
import { startPostgres } from '../support/services/postgres.ts'

test('[D5.2] the start and doctor name the cause if PgBouncer loses prepared statements', async () => {
  const postgres = await startPostgres()
  const database = await postgres.createDatabase()
  const DATABASE_URL = await startForgetfulPgBouncer(database)
  const settings = { DATA_DIR: newFolder(), SECRET_KEY, PORT: '0', DATABASE_URL }
  const says = expect.stringMatching(/loses prepared statements.+\n?.*Use PgBouncer 1\.21 or newer/)
  await expect
    .poll(() => runCommand(['start'], settings), { timeout: 60_000 })
    .toMatchObject({ code: 1, stderr: says })
  expect(await runCommand(['doctor'], settings)).toMatchObject({ code: 1, stdout: says })
  expect(await runCommand(['doctor'], { ...settings, DATABASE_URL: database })).toMatchObject({
    stdout: expect.stringMatching(/^ok +database +PostgreSQL/m),
  })
  await postgres.stop()
})
