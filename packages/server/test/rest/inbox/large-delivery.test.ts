import { describe, expect, test } from 'vitest'
import { stores, useServer } from '../../support/harness.ts'
import { seed } from '../../support/data/large-data.ts'
import { runInShortSteps } from '../../support/measures/other-tenant.ts'
import { organizationId, scene } from './scene.ts'

const members = 3000
/** Recipients are written in the order of their ids: Grace first, because the caller named her, then `u1`, and `u999` last. */
const [first, last] = ['u1', 'u999']

describe.each(stores)('a notification about an event to many members on %s', (store) => {
  const server = useServer(store, { isOwn: true })

  test('[18.7.9] [S1] [S2] 3,000 members are notified of an event in short steps, each exactly once, and all at the same moment', async () => {
    const { apiKey, reply, bodiesOf, expectBodies } = await scene(server)
    await seed(server.database, apiKey, organizationId).members(members)
    let isDelivered = false
    let isPartial = false
    /** Reads inboxes without pause. Who reads the notification later must not miss it if somebody has read it before. */
    const watch = async () => {
      while (!isDelivered) {
        const [before, after] = [await bodiesOf(first), await bodiesOf(last)]
        isPartial ||= before.length > after.length
        isDelivered = after.length > 0
      }
    }
    await runInShortSteps(server, async () => {
      const watching = watch()
      await reply('ada', 'to all')
      await watching
    })
    expect(isPartial).toBe(false)
    const rows = await server.database.read
      .selectFrom('notification_recipients')
      .select(['recipient', 'notification_id'])
      .where('api_key', '=', apiKey)
      .execute()
    const expected = ['grace', ...Array.from({ length: members }, (_, index) => `u${index + 1}`)]
    expect(rows.map((row) => row.recipient).sort()).toEqual(expected.sort())
    expect(new Set(rows.map((row) => row.notification_id)).size).toBe(1)
    for (const userId of ['grace', 'u1', 'u500', 'u501', 'u2000', 'u3000', 'u999']) {
      await expectBodies(userId, ['to all'])
    }
    expect(await bodiesOf('ada')).toEqual([])
  })
})
