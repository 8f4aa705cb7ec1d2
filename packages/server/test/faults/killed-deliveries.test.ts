import { describe, test } from 'vitest'
import { stores } from '../support/harness.ts'
import { expectAllDelivered } from './killed-deliveries.ts'

describe('deliveries and SIGKILL', { retry: 0 }, () => {
  test.for(stores)(
    '[24.20] [3.3.5] every acknowledged comment is mailed and sent at least once, with one id, although the server is killed on %s',
    { timeout: 900_000 },
    (store, context) => expectAllDelivered(store, 1, context),
  )
})
