import { describe, expect, test } from 'vitest'
import { stored } from '../support/data/filled-tenant.ts'
import { stores, useServer } from '../support/harness.ts'
import { WebhookReceiver } from '../support/receivers/webhook-receiver.ts'
import { options, organizationId, ref, scene } from './scene.ts'

describe.each(stores)('deliveries and the erasure of users on %s', (store) => {
  const server = useServer(store, options)

  test('[14.2.6] an erasure removes the mails and webhooks that name the user or are for the user, and keeps the others', async () => {
    const tenant = await scene(server)
    const { client, addEndpoint } = tenant
    const erased = { userId: 'ada-4711', name: 'Ada Erased', email: 'countess@example.com' }
    await client.users.add({ organizationId, users: [erased] })
    const receiver = await WebhookReceiver.start()
    // Also to what others wrote.
    receiver.answerWith(500, 'Not for Countess@example.com.')
    await addEndpoint(receiver)
    await client.emailConfig.update({ useEmailService: true })
    const batch = { isEnabled: true, batchWindowSeconds: 60, maxActivities: 2 }
    const setBatches = (isEnabled: boolean) =>
      client.notificationServiceConfig.update({
        notificationServiceConfig: { batchConfig: { document: { ...batch, isEnabled } } },
      })
    const commentBy = (userId: string, commentText: string) =>
      client.commentAnnotations.add({
        ...ref,
        commentAnnotations: [{ commentData: [{ commentText, from: { userId }, triggerNotification: true }] }],
      })
    await commentBy(erased.userId, 'Ada-text')
    await commentBy('grace', 'Text of Grace')
    const listed = async () => (await client.deliveries.get({})).data
    await expect
      .poll(async () => (await listed()).filter(({ channel }) => channel === 'webhook').length)
      .toBe(2)
    const toErased = (userId: string | undefined) => userId === erased.userId
    await expect.poll(async () => (await listed()).some(({ userId }) => toErased(userId))).toBe(true)
    await setBatches(true)
    await commentBy('grace', 'Waits for a digest')
    const rows = async () =>
      Object.entries(await stored(server, tenant)).flatMap(([name, some]) =>
        some.filter((row) => /ada-4711|Ada Erased|Ada-text|countess/i.test(String(row))).map(() => name),
      )
    for (const table of ['deliveries', 'delivery_messages']) expect(await rows()).toContain(table)
    // No later attempt stores the address again.
    const answered = async () => (await listed()).filter(({ lastAnswer }) => lastAnswer?.includes('Countess'))
    await expect.poll(async () => (await answered()).length, { timeout: 30_000 }).toBe(3)
    receiver.answerWith(500)
    const { data } = await client.userData.delete({ userIds: [erased.userId] })
    await expect
      .poll(async () => (await client.userData.deleteStatus({ jobId: data.jobId })).data.isDeleteCompleted)
      .toBe(true)
    // Removed grants stay until every token that was issued before has expired, and signals for an hour (B3.3).
    expect((await rows()).filter((name) => name !== 'grants' && name !== 'signals')).toEqual([])
    const left = await listed()
    expect(left.filter(({ channel }) => channel === 'webhook')).toHaveLength(2)
    expect(left.some(({ userId }) => toErased(userId))).toBe(false)
  })
})
