import { describe, expect, test } from 'vitest'
import { stores } from '../support/harness.ts'
import { expectAllDelivered, killRepeatedly } from './killed-deliveries.ts'

describe('deliveries and SIGKILL', { retry: 0 }, () => {
  test.for(stores)(
    '[24.20] [3.3.5] every acknowledged comment is mailed and sent at least once, with one id, although the server is killed again and again on %s',
    { timeout: 900_000 },
    (store, context) => expectAllDelivered(store, 3, context),
  )

  test(
    '[24.20] the test detects what a control server loses that answers before it commits',
    { timeout: 300_000 },
    async () => {
      const { missing, sendLast, server } = await killRepeatedly('earlyAnswers', 'sqlite', 1)
      await sendLast()
      expect(missing()).not.toEqual([])
      await server.terminate()
    },
  )
})
