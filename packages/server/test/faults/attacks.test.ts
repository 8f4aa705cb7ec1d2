import { beforeAll, describe, expect, test } from 'vitest'
import { promised } from '../../../../attack/attack.ts'
import { attacks } from '../../../../attack/attacks/index.ts'
import { measure } from '../../../../attack/measure.ts'
import { createPostgresDatabase, stores } from '../support/harness.ts'
import { buildServer, serverProgram } from '../support/processes/process.ts'

/** `npm run attack` holds delays against the promise. Here a busy machine must not fail, and an unprotected server must. */
const maxDelayMs = 10_000

beforeAll(buildServer)

// Twice more, if another test took the processor just then: an unprotected server fails every time.
describe.each(stores)('attacks on %s', { retry: 2 }, (store) => {
  const [, ...real] = attacks
  const tried = store === 'sqlite' ? real : real.filter(({ withoutDatabase }) => !withoutDatabase)
  test.each(tried)('[S1] [S2] another tenant works on during: $name', async (attack) => {
    const databaseUrl = store === 'postgres' ? await createPostgresDatabase() : undefined
    const measured = await measure(attack, { main: serverProgram, databaseUrl, size: 'short' })
    expect(measured.failures).toEqual([])
    for (const ms of Object.values(measured.worstMs)) expect(ms).toBeLessThan(maxDelayMs)
    expect(measured.loopMs).toBeLessThan(promised.loopMs)
    expect(measured.grownMegabytes).toBeLessThan(attack.maxMegabytes ?? Infinity)
  })
})
