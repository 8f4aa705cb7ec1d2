import { describe, test } from 'vitest'
import { stores } from '../support/harness.ts'
import { expectAllInInbox } from './killed-inbox.ts'

describe('notifications and SIGKILL', { retry: 0 }, () => {
  test.for(stores)(
    '[18.7.7] every acknowledged comment is in the inbox exactly once, although the server is killed on %s',
    { timeout: 900_000 },
    (store, context) => expectAllInInbox(store, 1, context),
  )
})
