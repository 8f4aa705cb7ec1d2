import { Webhook as StandardWebhook } from 'standardwebhooks'
import { Webhook as SvixWebhook } from 'svix'
import { describe, expect, test } from 'vitest'
import { stores, useServer } from '../support/harness.ts'
import { WebhookReceiver } from '../support/receivers/webhook-receiver.ts'
import { options, organizationId, ref, scene } from './scene.ts'

const hours = 60 * 60 * 1000

describe.each(stores)('deliveries of webhooks on %s', (store) => {
  const server = useServer(store, options)

  test('[24.20] an event reaches each endpoint that wants it, signed, and every library of the standard verifies it', async () => {
    const { client, addThread, addEndpoint, expectOne, deliveries } = await scene(server)
    const receiver = await WebhookReceiver.start()
    const all = await addEndpoint({ url: `${receiver.url}/all` })
    await addEndpoint({ url: `${receiver.url}/replies`, filterTypes: ['comment.add'] })
    await addThread('a1', 'Hello Grace')
    await expectOne({ target: all }, { status: 'delivered', lastStatusCode: 200, lastAnswer: 'thanks' })
    const [webhook] = receiver.received
    expect(webhook?.json).toMatchObject({
      event: 'comment_annotation.add',
      source: 'comment',
      platform: 'rest',
      data: { commentAnnotation: { annotationId: 'a1', comments: [{ commentText: 'Hello Grace' }] } },
    })
    const { secret } = (await client.webhookEndpoints.getSecret({ endpointId: all })).data
    const headers = webhook?.headers as Record<string, string>
    for (const library of [StandardWebhook, SvixWebhook]) {
      expect(new library(secret).verify(webhook?.body ?? '', headers)).toEqual(webhook?.json)
    }
    expect(headers['webhook-id']).toBe((await deliveries())[0]?.messageId)
    expect(receiver.eventsAt('/replies')).toEqual([])
    await client.comments.add({
      ...ref,
      annotationId: 'a1',
      commentData: [{ commentText: 'Done', from: { userId: 'grace' }, triggerNotification: true }],
    })
    await expect.poll(() => receiver.eventsAt('/replies')).toEqual(['comment.add'])
  })

  test('[24.19] [24.20] after a rotation, a delivery verifies with the new and with the old secret', async () => {
    const { client, addThread, addEndpoint } = await scene(server)
    const receiver = await WebhookReceiver.start()
    const endpointId = await addEndpoint({ url: receiver.url })
    const before = (await client.webhookEndpoints.getSecret({ endpointId })).data.secret
    const { secret: after } = (await client.webhookEndpoints.rotateSecret({ endpointId })).data
    await addThread('a1')
    await expect.poll(() => receiver.received.length).toBe(1)
    const [webhook] = receiver.received
    for (const secret of [before, after]) {
      const headers = webhook?.headers as Record<string, string>
      expect(new StandardWebhook(secret).verify(webhook?.body ?? '', headers)).toEqual(webhook?.json)
      expect(new SvixWebhook(secret).verify(webhook?.body ?? '', headers)).toEqual(webhook?.json)
    }
  })

  test('[24.21] [24.21.5] [24.21.8] an endpoint that fails is tried again after the times of the schedule, with the same id, and then another endpoint gets a webhook about it', async () => {
    const { addThread, addEndpoint, expectOne, deliveries, loggedFailures } = await scene(server)
    const receiver = await WebhookReceiver.start()
    receiver.answerWith(500, 'broken')
    const target = await addEndpoint({
      url: `${receiver.url}/broken`,
      filterTypes: ['comment_annotation.add'],
    })
    const filterTypes = ['message.attempt.exhausted' as const]
    await addEndpoint({ url: `${receiver.url}/channels`, filterTypes, channels: [organizationId] })
    await addEndpoint({ url: `${receiver.url}/log`, filterTypes })
    await addThread('a1')
    const waits = [5_000, 5 * 60_000, 30 * 60_000, 2 * hours, 5 * hours, 10 * hours, 10 * hours]
    for (const [index, waitMs] of waits.entries()) {
      await expectOne({ target }, { status: 'pending', attempts: index + 1, lastStatusCode: 500 })
      const [delivery] = await deliveries({ target })
      const planned = (delivery?.nextAttemptAt ?? 0) - (delivery?.lastAttemptAt ?? 0)
      expect(planned / waitMs).toBeGreaterThanOrEqual(0.8)
      expect(planned / waitMs).toBeLessThanOrEqual(1.2)
      server.clock.offsetMs += planned
    }
    await expectOne({ target }, { status: 'failed', attempts: 8, lastAnswer: 'broken' })
    const [{ deliveryId, event } = {}] = await deliveries({ target })
    const warning = { level: 'warn', deliveryId, channel: 'webhook', event, code: 500 }
    await expect.poll(loggedFailures).toMatchObject([warning])
    expect(JSON.stringify(loggedFailures())).not.toMatch(/broken|127\.0\.0\.1/)
    const sent = receiver.received.filter(({ path }) => path === '/broken')
    expect(sent).toHaveLength(8)
    expect(new Set(sent.map(({ headers }) => headers['webhook-id'])).size).toBe(1)
    await expect.poll(() => receiver.eventsAt('/log')).not.toEqual([])
    expect(receiver.eventsAt('/channels')).toEqual([])
    const [failed] = await deliveries({ target })
    expect(receiver.received.find(({ path }) => path === '/log')?.json).toMatchObject({
      event: 'message.attempt.exhausted',
      data: { endpointId: target, webhookId: failed?.messageId, event: 'comment_annotation.add' },
    })
  })

  test('[24.21.1] an endpoint that answers 410 is disabled, and is tried no more', async () => {
    const { client, addThread, addEndpoint, expectOne } = await scene(server)
    const receiver = await WebhookReceiver.start()
    receiver.answerWith(410)
    const target = await addEndpoint({ url: receiver.url })
    await addThread('a1')
    await expectOne({ target }, { status: 'failed', attempts: 1, lastStatusCode: 410 })
    const { endpoints } = (await client.webhookEndpoints.get({})).data
    expect(endpoints).toMatchObject([{ id: target, disabled: true }])
    await addThread('a2')
    expect(receiver.received).toHaveLength(1)
  })

  test('[24.20.1] [24.21.2] deleting or disabling an endpoint, or turning the webhooks off, cancels what is pending', async () => {
    const { client, addThread, addEndpoint, expectOne } = await scene(server)
    const receiver = await WebhookReceiver.start()
    receiver.answerWith(500)
    const [deleted, disabled] = [await addEndpoint(receiver), await addEndpoint(receiver)]
    await client.webhookConfig.update({
      useWebhookService: true,
      webhookServiceConfig: { rawNotificationUrl: `${receiver.url}/raw` },
    })
    await addThread('a1')
    for (const target of [deleted, disabled]) await expectOne({ target }, { attempts: 1 })
    await expectOne({ target: 'rawNotificationUrl' }, { attempts: 1 })
    await client.webhookEndpoints.delete({ endpointId: deleted })
    await client.webhookEndpoints.update({ endpointId: disabled, disabled: true })
    await client.webhookConfig.update({ useWebhookService: false })
    const count = receiver.received.length
    server.clock.offsetMs += 6_000
    await expectOne({ target: deleted }, { status: 'cancelled', lastError: 'The endpoint was deleted.' })
    await expectOne({ target: disabled }, { status: 'cancelled', lastError: 'The endpoint is disabled.' })
    await expectOne({ target: 'rawNotificationUrl' }, { status: 'cancelled' })
    expect(receiver.received).toHaveLength(count)
  })

  test('[24.22] basic webhooks are tried three times, with the auth token, raw and processed', async () => {
    const { client, addThread, expectOne } = await scene(server)
    const receiver = await WebhookReceiver.start()
    await client.webhookConfig.update({
      useWebhookService: true,
      webhookServiceConfig: {
        authToken: 'very secret token',
        rawNotificationUrl: `${receiver.url}/raw`,
        processedNotificationUrl: `${receiver.url}/processed`,
      },
    })
    receiver.respond = (response, { path, headers }) =>
      response.writeHead(path === '/raw' ? 200 : 503).end(`You sent ${headers.authorization}`)
    await addThread('a1')
    await expectOne({ target: 'rawNotificationUrl' }, { status: 'delivered', attempts: 1 })
    for (let attempts = 1; attempts < 3; attempts++) {
      await expectOne({ target: 'processedNotificationUrl' }, { attempts })
      server.clock.offsetMs += 6_000
    }
    await expectOne({ target: 'processedNotificationUrl' }, { status: 'failed', attempts: 3 })
    const [raw] = receiver.received.filter(({ path }) => path === '/raw')
    expect(raw?.headers.authorization).toBe('Basic very secret token')
    expect(raw?.json).toMatchObject({ actionType: 'newlyAdded', notificationSource: 'comment' })
    expect(raw?.json).not.toHaveProperty('accessDeniedUsers')
    const [processed] = receiver.received.filter(({ path }) => path === '/processed')
    expect(processed?.json).toHaveProperty('accessDeniedUsers')
    const answers = JSON.stringify((await client.deliveries.get({})).data)
    expect(answers).not.toContain('very secret token')
    expect(server.logged.join()).not.toContain('very secret token')
  })

  test('[24.20] [27.1.4] a change by a backend without triggerNotification calls no webhook', async () => {
    const { client, addThread, addEndpoint } = await scene(server)
    const receiver = await WebhookReceiver.start()
    await addEndpoint(receiver)
    const commentData = [{ commentText: 'Imported.', from: { userId: 'ada' } }]
    await client.commentAnnotations.add({
      ...ref,
      commentAnnotations: [{ annotationId: 'old', commentData }],
    })
    await addThread('new')
    await expect.poll(() => receiver.received.length).toBe(1)
    expect(receiver.received[0]?.json.data.commentAnnotation.annotationId).toBe('new')
  })

  test('[24.2.1] changed editor content reaches endpoints at most every 5 s, with the content', async () => {
    const { client, addEndpoint } = await scene(server)
    const receiver = await WebhookReceiver.start()
    await addEndpoint({ url: receiver.url, filterTypes: ['crdt.update_data'] })
    const editor = { ...ref, editorId: 'note', type: 'text' as const }
    await client.crdt.add({ ...editor, data: 'Hello' })
    await client.crdt.update({ ...editor, data: 'Hello World' })
    server.clock.offsetMs += 5_000
    await expect.poll(() => receiver.received.length).toBe(1)
    expect(receiver.received[0]?.json).toMatchObject({
      event: 'crdt.update_data',
      actionType: 'updateData',
      source: 'crdt',
      data: { crdtData: { id: 'note', data: 'Hello World' } },
    })
  })

  test('[28.2] a retried delivery is sent again with its id, also if it had succeeded', async () => {
    const { client, addThread, addEndpoint, expectOne, deliveries } = await scene(server)
    const receiver = await WebhookReceiver.start()
    const target = await addEndpoint(receiver)
    await addThread('a1')
    await expectOne({ target }, { status: 'delivered' })
    const [first] = await deliveries()
    const deliveryIds = [first?.deliveryId ?? '', 'dlv_unknown']
    expect((await client.deliveries.retry({ deliveryIds })).data).toEqual({ restarted: 1, hasMore: false })
    await expect.poll(() => receiver.received.length).toBe(2)
    await expectOne({ target }, { status: 'delivered', attempts: 1 })
    const [before, after] = receiver.received
    expect(after?.body).toBe(before?.body)
    expect(after?.headers['webhook-id']).toBe(before?.headers['webhook-id'])
    for (const input of [{}, { deliveryIds, failedSince: 0 }]) {
      await expect(client.deliveries.retry(input)).rejects.toThrow(
        'Either deliveryIds or failedSince must be provided.',
      )
    }
  })

  test('[28.2] all deliveries to a receiver that failed are sent again once it works', async () => {
    const { client, addThread, addEndpoint, deliveries } = await scene(server)
    const receiver = await WebhookReceiver.start()
    receiver.answerWith(503)
    await client.webhookConfig.update({
      useWebhookService: true,
      webhookServiceConfig: { rawNotificationUrl: `${receiver.url}/raw` },
    })
    const other = await addEndpoint({ url: `${receiver.url}/other` })
    for (const id of ['a1', 'a2', 'a3']) await addThread(id)
    const target = 'rawNotificationUrl'
    await expect
      .poll(
        async () => {
          server.clock.offsetMs += 6_000
          return (await deliveries({ target, status: 'failed' })).length
        },
        { timeout: 60_000 },
      )
      .toBe(3)
    receiver.answerWith(200)
    const { data } = await client.deliveries.retry({ failedSince: 0, target })
    expect(data).toEqual({ restarted: 3, hasMore: false })
    await expect.poll(async () => (await deliveries({ target, status: 'delivered' })).length).toBe(3)
    expect((await deliveries({ target: other })).every(({ attempts }) => attempts < 8)).toBe(true)
  })

  test('[28.1] deliveries are listed in pages, newest first, by state, receiver and event', async () => {
    const { client, addThread, addEndpoint } = await scene(server)
    const receiver = await WebhookReceiver.start()
    const target = await addEndpoint(receiver)
    for (const id of ['a1', 'a2', 'a3']) await addThread(id)
    const read = async (input: object) => (await client.deliveries.get(input)).data
    await expect.poll(() => read({ status: 'delivered' })).toHaveLength(3)
    const first = await client.deliveries.get({ pageSize: 2 })
    const second = await client.deliveries.get({ pageSize: 2, pageToken: first.nextPageToken ?? '' })
    const listed = [...first.data, ...second.data]
    expect(new Set(listed.map(({ deliveryId }) => deliveryId)).size).toBe(3)
    const times = listed.map(({ createdAt }) => createdAt)
    expect(times).toEqual(times.toSorted((a, b) => b - a))
    expect(await read({ target, event: 'comment_annotation.add' })).toHaveLength(3)
    expect(await read({ target: 'ep_other' })).toEqual([])
    expect(await read({ event: 'comment.add' })).toEqual([])
    expect(await read({ channel: 'email' })).toEqual([])
  })

  test('[24.21.3] an endpoint with a rate limit gets no more deliveries in a second, and all of them in the end', async () => {
    const { addThread, addEndpoint, deliveries } = await scene(server)
    const receiver = await WebhookReceiver.start()
    const at: number[] = []
    receiver.respond = (response) => {
      at.push(performance.now())
      response.end()
    }
    await addEndpoint({ url: receiver.url, rateLimit: 20 })
    const beganAt = performance.now()
    for (let count = 0; count < 10; count++) await addThread(`a${count}`)
    await expect.poll(async () => (await deliveries({ status: 'delivered' })).length).toBe(10)
    // Timers may fire a millisecond early.
    expect((at.at(-1) ?? 0) - beganAt).toBeGreaterThan(9 * 50 - 10)
  })
})
