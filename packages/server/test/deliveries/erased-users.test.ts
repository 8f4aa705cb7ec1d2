import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import { expectShortIterations } from '../support/measures/loop-work.ts'
import * as given from '../support/given.ts'
import { stores, useServer } from '../support/harness.ts'
import { runHousekeeping } from '../support/data/housekeeping.ts'
import { runInShortSteps } from '../support/measures/other-tenant.ts'
import { WebhookReceiver } from '../support/receivers/webhook-receiver.ts'
import { options, organizationId, ref, scene } from './scene.ts'

const timeout = { timeout: 60_000 }

describe.each(stores)('deliveries and erased users on %s', (store) => {
  const server = useServer(store, options)

  async function erase({ client }: given.Tenant, userIds: string[]) {
    const { jobId } = (await client.userData.delete({ userIds })).data
    const isDone = async () => (await client.userData.deleteStatus({ jobId })).data.isDeleteCompleted
    await expect.poll(isDone, timeout).toBe(true)
  }

  const messagesOf = ({ apiKey }: given.Tenant) =>
    server.database.read
      .selectFrom('delivery_messages')
      .select('data')
      .where('api_key', '=', apiKey)
      .execute()

  /** Adds a message with 1,000 deliveries, as a mail to a whole organization has. */
  async function addLargeMessage({ apiKey }: given.Tenant, messageId: string, data: object) {
    await server.database.write(async (db) => {
      const message = { api_key: apiKey, message_id: messageId, event: 'comment.add', created_at: 1 }
      await db
        .insertInto('delivery_messages')
        .values({ ...message, data: JSON.stringify(data) })
        .execute()
      await sql`
        with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < 1000)
        insert into deliveries (api_key, delivery_id, message_id, channel, target, user_id, event, status, attempts, created_at)
        select ${apiKey}, ${messageId} || n, ${messageId}, 'email', 'u' || n || '@example.com', 'u' || n, 'comment.add',
          'delivered', 1, 1 from numbers`.execute(db)
    })
  }

  test('[14.2.6] what is stored of a mail has no text and no name, and an erasure removes the mails that earlier versions stored with the text of the user', async () => {
    const tenant = await scene(server)
    const { client, addThread, deliveries } = tenant
    await client.emailConfig.update({ useEmailService: true })
    await client.users.add({ organizationId, users: [{ userId: 'alan', email: 'alan@example.com' }] })
    await addThread('a1', 'Ask {{grace}}.')
    await expect.poll(async () => (await deliveries({ target: 'alan@example.com' })).length).toBe(1)
    expect(JSON.stringify(await messagesOf(tenant))).not.toMatch(/Ada|Grace|grace|Ask/)
    const items = [{ namedUserIds: ['grace'], commentText: 'Ask @Grace Hopper.' }]
    await addLargeMessage(tenant, 'earlier', { organizationId, content: { items } })
    expect(await messagesOf(tenant)).toHaveLength(2)
    await erase(tenant, ['grace'])
    const left = await messagesOf(tenant)
    expect(left).toHaveLength(1)
    expect(JSON.stringify(left)).not.toContain('Ask')
  })

  test('[14.2.6] an erasure keeps the deliveries about a document whose id equals that of the user', async () => {
    const tenant = await scene(server)
    const receiver = await WebhookReceiver.start()
    const target = await tenant.addEndpoint({ url: receiver.url })
    await tenant.client.users.add({ organizationId, users: [{ userId: ref.documentId }, { userId: 'a1' }] })
    await tenant.addThread('a1')
    await tenant.expectOne({ target }, { status: 'delivered' })
    await erase(tenant, [ref.documentId, 'a1'])
    await tenant.expectOne({ target }, { status: 'delivered' })
  })

  test('[14.2.5] [14.2.6] the erasure of messages with very many deliveries runs in short steps', async () => {
    const tenant = await scene(server)
    const named = { organizationId, actor: { userId: 'ada' } }
    for (let count = 0; count < 5; count++) await addLargeMessage(tenant, `msg_${count}_`, named)
    await runInShortSteps(server, () => erase(tenant, ['ada']))
    expect(await messagesOf(tenant)).toEqual([])
  }, 60_000)

  test('[28.1] [S2] old messages with very many deliveries are removed in short steps, except pending deliveries', async () => {
    const tenant = await scene(server)
    const { apiKey } = tenant
    for (let count = 0; count < 3; count++) await addLargeMessage(tenant, `msg_${count}_`, {})
    await server.database.write((db) =>
      db
        .updateTable('deliveries')
        .set({ status: 'pending' })
        .where('api_key', '=', apiKey)
        .where('delivery_id', '=', 'msg_1_17')
        .execute(),
    )
    await expectShortIterations(() => runHousekeeping(server, 0))
    expect(await messagesOf(tenant)).toHaveLength(1)
    expect((await tenant.deliveries()).map(({ deliveryId }) => deliveryId)).toEqual(['msg_1_17'])
  }, 60_000)
})
