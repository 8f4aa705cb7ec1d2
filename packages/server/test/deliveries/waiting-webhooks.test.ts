import { describe, expect, test } from 'vitest'
import { readWebhookData } from '../../src/deliveries/webhooks/read-webhook-data.ts'
import type { StoredWebhook } from '../../src/events/webhook-event.ts'
import * as apiKeys from '../../src/store/api-keys.ts'
import { stores, useServer } from '../support/harness.ts'
import { WebhookReceiver } from '../support/receivers/webhook-receiver.ts'
import { webhookDeps } from '../rest/webhooks/scene.ts'
import { documentId, options, organizationId, ref, scene } from './scene.ts'

describe.each(stores)('webhooks that wait for another attempt on %s', (store) => {
  const server = useServer(store, options)

  /** Two webhooks about comments of Ada, which the receiver has refused. */
  async function waitingWebhooks() {
    const tenant = await scene(server)
    const { client, addThread, addEndpoint, deliveries } = tenant
    const receiver = await WebhookReceiver.start()
    receiver.answerWith(500)
    await addEndpoint({ url: receiver.url })
    await addThread('a1', 'Stays {{grace}}')
    const add = { commentText: 'Ada-text', from: { userId: 'ada' }, triggerNotification: true }
    const { data: ids } = await client.comments.add({ ...ref, annotationId: 'a1', commentData: [add] })
    const waiting = { status: 'pending', lastStatusCode: 500 }
    await expect.poll(() => deliveries()).toMatchObject([waiting, waiting])
    /** The receiver accepts what it gets from now on. */
    const tryAgain = async () => {
      receiver.answerWith(200)
      receiver.received.length = 0
      server.clock.offsetMs += 7 * 60_000
      await expect.poll(() => deliveries()).toMatchObject([{ status: 'delivered' }, { status: 'delivered' }])
      const bodies = receiver.received.map(({ json }) => json)
      return { text: JSON.stringify(bodies), reply: bodies.find(({ event }) => event === 'comment.add').data }
    }
    return { ...tenant, commentId: ids[0] as number, tryAgain }
  }

  test('[24.5.1] a webhook that waits has the text of the time when it is sent', async () => {
    const { client, commentId, tryAgain } = await waitingWebhooks()
    await client.comments.update({
      ...ref,
      annotationId: 'a1',
      commentIds: [commentId],
      updatedData: { commentText: 'Another text' },
    })
    const { text, reply } = await tryAgain()
    expect(text).not.toContain('Ada-text')
    expect(reply.targetComment).toMatchObject({ commentText: 'Another text' })
  })

  test('[24.5.3] a webhook that waits has only the ids of a comment that was deleted', async () => {
    const { client, commentId, tryAgain } = await waitingWebhooks()
    await client.comments.delete({ ...ref, annotationId: 'a1', commentIds: [commentId] })
    const { text, reply } = await tryAgain()
    expect(text).not.toContain('Ada-text')
    expect(text).toContain('Stays')
    expect(reply.targetComment).toEqual({ commentId })
  })

  test.each([
    { what: 'annotation', remove: { annotationIds: ['a1'] } },
    { what: 'document', remove: undefined },
  ])('[24.5.3] a webhook that waits has only ids if the $what was deleted', async ({ remove }) => {
    const { client, commentId, tryAgain } = await waitingWebhooks()
    if (remove) await client.commentAnnotations.delete({ ...ref, ...remove })
    else await client.documents.delete({ organizationId, documentIds: [documentId] })
    const { text, reply } = await tryAgain()
    expect(text).not.toMatch(/Ada-text|Stays/)
    expect(reply.commentAnnotation).toEqual({ annotationId: 'a1', annotationNumber: 1, isDeleted: true })
    expect(reply.targetComment).toEqual({ commentId })
  })

  test('[24.5.3] a webhook about a deletion has only the ids of what was deleted', async () => {
    const { client, addThread, addEndpoint } = await scene(server)
    const receiver = await WebhookReceiver.start()
    await addThread('a1', 'Ada-text')
    await addEndpoint({ url: receiver.url })
    const resource = { type: 'organization' as const, id: organizationId }
    const { token } = (
      await client.auth.generateToken({
        userId: 'ada',
        userProperties: { name: 'Ada', email: 'ada@example.com' },
        permissions: { resources: [resource] },
      })
    ).data
    const thread = { ...ref, annotationId: 'a1' }
    const commentIds = (await client.comments.get(thread)).data.flatMap((comment) => comment?.commentId ?? [])
    await server.client({ token }).comments.delete({ ...thread, commentIds })
    await expect.poll(() => receiver.received.map(({ json }) => json.event)).toEqual(['comment.delete'])
    const [{ json, body } = { json: undefined, body: '' }] = receiver.received
    expect(json.data).toMatchObject({
      commentAnnotation: { annotationId: 'a1', isDeleted: true },
      targetComment: { commentId: commentIds[0] },
    })
    expect(body).not.toContain('Ada-text')
  })

  test('[24.5.3] a webhook that waits shows the annotation although its document has another id by now', async () => {
    const { client, tryAgain } = await waitingWebhooks()
    const { data } = await client.documents.migrate({ organizationId, documentId, newDocumentId: 'moved' })
    const status = async () =>
      (await client.documents.migrateStatus({ organizationId, migrationId: data.migrationId })).data.status
    await expect.poll(status).toBe('completed')
    const { reply } = await tryAgain()
    const moved = {
      commentAnnotation: { annotationId: 'a1', metadata: { documentId: 'moved' } },
      targetComment: { commentText: 'Ada-text' },
    }
    expect(reply).toMatchObject(moved)
  })

  test('[24.5.1] a webhook that an earlier version has stored with its content has the content of now', async () => {
    const { client, apiKey, commentId, tryAgain } = await waitingWebhooks()
    const { database } = server
    const messages = () =>
      database.read.selectFrom('delivery_messages').selectAll().where('api_key', '=', apiKey).execute()
    for (const { message_id, event: name, data } of await messages()) {
      const { event } = JSON.parse(data) as StoredWebhook
      const { key } = (await apiKeys.find(database.read, apiKey)) as { key: apiKeys.ApiKey }
      const earlier = await readWebhookData(webhookDeps(server), key, event, { findsDenied: true })
      expect(earlier.event).toBe(name)
      await database.write((db) =>
        db
          .updateTable('delivery_messages')
          .set({ data: JSON.stringify(earlier) })
          .where('api_key', '=', apiKey)
          .where('message_id', '=', message_id)
          .execute(),
      )
    }
    await client.comments.delete({ ...ref, annotationId: 'a1', commentIds: [commentId] })
    const { text, reply } = await tryAgain()
    expect(text).not.toContain('Ada-text')
    expect(reply.targetComment).toEqual({ commentId })
  })

  test('[14.2.6] a webhook that waits shows nothing of a user who was erased meanwhile', async () => {
    const { client, tryAgain } = await waitingWebhooks()
    const { jobId } = (await client.userData.delete({ userIds: ['grace'] })).data
    await expect
      .poll(async () => (await client.userData.deleteStatus({ jobId })).data.isDeleteCompleted)
      .toBe(true)
    const { text } = await tryAgain()
    expect(text).not.toMatch(/grace|Grace/)
    expect(text).toContain('Stays @deleted user')
  })
})
