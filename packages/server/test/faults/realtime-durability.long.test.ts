import { describe, expect, test } from 'vitest'
import { stores } from '../support/harness.ts'
import { expectConvergence, expectNothingLost, killRepeatedly } from './realtime-durability.ts'

describe('[R7] a confirmed update survives SIGKILL at any moment', { retry: 0 }, () => {
  test.for(stores)(
    '[R7] a server on %s loses no confirmed update when it is killed again and again while clients type, and the file of SQLite stays intact',
    { timeout: 900_000 },
    (store, context) => expectNothingLost(store, 2, context),
  )

  test(
    '[R7] clients that stay open reconnect after each kill and converge on everything they typed',
    { timeout: 300_000 },
    () => expectConvergence(2),
  )

  test(
    '[R7] the test detects lost updates of a control server that confirms before it commits',
    { timeout: 900_000 },
    async () => {
      const { lost } = await killRepeatedly('earlyAnswers', 'sqlite', 2)
      expect(lost).toBeGreaterThan(0)
    },
  )
})
