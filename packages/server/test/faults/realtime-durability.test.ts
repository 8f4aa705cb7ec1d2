import { describe, test } from 'vitest'
import { stores } from '../support/harness.ts'
import { expectConvergence, expectNothingLost } from './realtime-durability.ts'

describe('[R7] a confirmed update survives SIGKILL at any moment', { retry: 0 }, () => {
  test.for(stores)(
    '[R7] a server on %s loses no confirmed update when it is killed while clients type, and the file of SQLite stays intact',
    { timeout: 900_000 },
    (store, context) => expectNothingLost(store, 1, context),
  )

  test(
    '[R7] clients that stay open reconnect after a kill and converge on everything they typed',
    { timeout: 300_000 },
    () => expectConvergence(1),
  )
})
