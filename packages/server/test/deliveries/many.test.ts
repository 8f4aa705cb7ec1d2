import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import { expectShortIterations } from '../support/measures/loop-work.ts'
import { stores, useServer } from '../support/harness.ts'
import { WebhookReceiver } from '../support/receivers/webhook-receiver.ts'
import { options, scene } from './scene.ts'

describe.each(stores)('very many deliveries on %s', (store) => {
  const server = useServer(store, options)

  test('[28.1] [28.2] [S2] lists that fit nothing among 10,000 deliveries and many retries at the same time leave the event loop free', async () => {
    const { client, apiKey, addThread, addEndpoint, deliveries } = await scene(server)
    const receiver = await WebhookReceiver.start()
    await addEndpoint(receiver)
    await addThread('a1')
    await expect.poll(() => deliveries({ status: 'delivered' })).toHaveLength(1)
    await server.database.write((db) =>
      sql`with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < 10000)
        insert into deliveries (api_key, delivery_id, message_id, channel, target, event, status, attempts, created_at)
        select api_key, 'copy' || n, message_id, channel, 'ep_gone', event, 'failed', 1, created_at + n
        from deliveries, numbers where api_key = ${apiKey}`.execute(db),
    )
    const lists = [{ event: 'comment.add' }, { status: 'failed' as const, channel: 'email' as const }]
    const read = () => Promise.all([...lists, ...lists].map((filter) => client.deliveries.get(filter)))
    // On PostgreSQL the answers to all four queries, 2,000 rows each, may arrive in one iteration.
    await expectShortIterations(read, store === 'postgres' ? { rows: 8_100 } : {})
    for (const { data } of await read()) expect(data).toEqual([])
    const retry = () =>
      Promise.all(Array.from({ length: 10 }, () => client.deliveries.retry({ failedSince: 0 })))
    await expectShortIterations(retry)
  })
})
