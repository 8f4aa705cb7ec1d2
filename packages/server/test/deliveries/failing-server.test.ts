import { setImmediate as nextIteration } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { stores, useServer } from '../support/harness.ts'
import { WebhookReceiver } from '../support/receivers/webhook-receiver.ts'
import { options, scene } from './scene.ts'

const minute = 60_000

describe.each(stores)('deliveries at which the server fails on %s', (store) => {
  const server = useServer(store, options)

  const jobsOf = (apiKey: string, kind: string) =>
    server.database.read
      .selectFrom('jobs')
      .select('attempts')
      .where('api_key', '=', apiKey)
      .where('kind', '=', kind)
      .execute()

  test('[24.21.1] an endpoint that got another URL before the old one answered 410 stays enabled, and gets the webhook', async () => {
    const { client, addThread, addEndpoint, expectOne } = await scene(server)
    const receiver = await WebhookReceiver.start()
    const target = await addEndpoint({ url: `${receiver.url}/old` })
    receiver.respond = async (response, { path }) => {
      if (path === '/new') return void response.end()
      await client.webhookEndpoints.update({ endpointId: target, url: `${receiver.url}/new` })
      response.writeHead(410).end()
    }
    await addThread('a1')
    await expect.poll(() => receiver.received.length).toBeGreaterThan(0)
    server.clock.offsetMs += 10_000
    await expectOne({ target }, { status: 'delivered', attempts: 2 })
    expect(receiver.received.map(({ path }) => path)).toEqual(['/old', '/new'])
  })

  test('[24.21.9] a delivery that the server cannot sign has failed after an hour', async () => {
    const { apiKey, addThread, addEndpoint, deliveries, client } = await scene(server)
    const receiver = await WebhookReceiver.start()
    const target = await addEndpoint({ url: receiver.url })
    const secret = Buffer.from('sealed with another key')
    await server.database.write((db) =>
      db.updateTable('webhook_endpoints').set({ secret }).where('api_key', '=', apiKey).execute(),
    )
    await addThread('a1')
    await expect.poll(async () => (await jobsOf(apiKey, 'webhook.send')).length).toBe(1)
    const began = server.clock.offsetMs
    while ((await deliveries({ target }))[0]?.status === 'pending') {
      server.clock.offsetMs += minute
      await nextIteration()
      expect(server.clock.offsetMs - began).toBeLessThan(1000 * minute)
    }
    const lastError = 'The server failed to send it. The log says why.'
    expect(await deliveries({ target })).toMatchObject([{ status: 'failed', attempts: 0, lastError }])
    // A transaction of its own removes the job afterwards.
    await expect.poll(() => jobsOf(apiKey, 'webhook.send')).toEqual([])
    await client.webhookEndpoints.delete({ endpointId: target })
  }, 60_000)

  test('[3.3.5] [24.21.9] an event is mailed although the server failed four times to find its recipients', async () => {
    const { apiKey, client, addThread, deliveries } = await scene(server)
    await client.emailConfig.update({ useEmailService: true })
    await client.notificationServiceConfig.update({
      notificationServiceConfig: { delayConfig: { isEnabled: true, delaySeconds: 30 } },
    })
    await addThread('a1')
    const annotations = server.database.read.selectFrom('annotations').where('api_key', '=', apiKey)
    const { data } = await annotations.select('data').executeTakeFirstOrThrow()
    const setData = (text: string) =>
      server.database.write((db) =>
        db.updateTable('annotations').set({ data: text }).where('api_key', '=', apiKey).execute(),
      )
    await setData('{')
    for (let attempts = 1; attempts <= 4; attempts++) {
      server.clock.offsetMs += minute
      await expect.poll(() => jobsOf(apiKey, 'notification.deliver')).toMatchObject([{ attempts }])
    }
    await setData(data)
    server.clock.offsetMs += minute
    await expect.poll(() => deliveries({ target: 'grace@example.com' })).toMatchObject([{ channel: 'email' }])
  })
})
