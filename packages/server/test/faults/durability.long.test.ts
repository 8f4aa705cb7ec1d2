import { describe, expect, test } from 'vitest'
import { stores } from '../support/harness.ts'
import { expectNothingLost, killRepeatedly } from './durability.ts'

describe('[P1] an answered write survives SIGKILL at any moment', { retry: 0 }, () => {
  test.for(stores)(
    '[P1] a server on %s loses no acknowledged write when it is killed under load again and again, and the file of SQLite stays intact',
    { timeout: 900_000 },
    (store, context) => expectNothingLost(store, 3, context),
  )

  test(
    '[P1] the test detects lost writes of a control server that answers before it commits',
    { timeout: 900_000 },
    async () => {
      const { lost } = await killRepeatedly('earlyAnswers', 'sqlite', 2)
      expect(lost).toBeGreaterThan(0)
    },
  )
})
