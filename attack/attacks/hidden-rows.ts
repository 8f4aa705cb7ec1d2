import { setTimeout as pause } from 'node:timers/promises'
import type { Attack, Scene } from '../attack.ts'
import { userToken } from '../tenant.ts'

const organizationId = 'org_1'
const open = { organizationId, documentId: 'doc_1' }
const closed = { organizationId, documentId: 'closed' }
const notificationsAtOnce = 16
const commentsPerThread = 100
const threadsPerCall = 10

/** Notifications about a document that the reader may not open. */
async function notify({ attacker: { client } }: Scene, count: number): Promise<void> {
  await client.documents.add({ organizationId, documents: [{ documentId: closed.documentId }] })
  await client.documents.updateAccess({
    organizationId,
    documentIds: [closed.documentId],
    accessType: 'restricted',
  })
  const add = () =>
    client.notifications.add({
      ...closed,
      actionUser: { userId: 'grace' },
      displayHeadlineMessageTemplate: 'x',
      displayBodyMessage: 'x',
      notifyUsers: [{ userId: 'ada' }],
      notifyAll: false,
    })
  for (let left = count; left > 0; left -= notificationsAtOnce) {
    await Promise.all(Array.from({ length: Math.min(left, notificationsAtOnce) }, add))
  }
}

/** Activities about threads that the reader may not see. */
async function comment({ attacker: { client } }: Scene, count: number): Promise<void> {
  await client.activityConfig.update({ activityServiceConfig: { isEnabled: true } })
  const from = { userId: 'grace' }
  const commentData = Array.from({ length: commentsPerThread }, () => ({
    commentText: 'x',
    from,
    triggerActivities: true,
  }))
  const thread = { commentData, visibility: { type: 'restricted' as const, userIds: ['grace'] } }
  const commentAnnotations = Array.from({ length: threadsPerCall }, () => thread)
  for (let left = count; left > 0; left -= threadsPerCall * commentsPerThread) {
    await client.commentAnnotations.add({ ...open, commentAnnotations })
  }
}

/** One user reads an inbox and activities of which nearly all are hidden from that user, many at once. */
export const hiddenRows: Attack = {
  name: 'lists of hidden rows by one user, many at once',
  async prepare(scene) {
    const { url, attacker, size } = scene
    const [rowCount, rounds] = size === 'short' ? [1_000, 1] : [10_000, 4]
    await attacker.client.organizations.add({ organizations: [{ organizationId }] })
    await attacker.client.documents.add({ organizationId, documents: [{ documentId: open.documentId }] })
    await attacker.client.users.add({ organizationId, users: [{ userId: 'grace' }] })
    await notify(scene, rowCount)
    await comment(scene, rowCount)
    const token = await userToken(attacker, 'ada')
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` }
    const read = async (path: string, data: object) => {
      const body = JSON.stringify({ data })
      const answer = await fetch(`${url}${path}`, { method: 'POST', headers, body })
      await answer.arrayBuffer()
    }
    const inbox = () => read('/v2/notifications/get', { organizationId })
    const activities = () => read('/v2/activities/get', open)
    return async () => {
      for (let round = 0; round < rounds; round++) {
        await Promise.all(Array.from({ length: 30 }, () => Promise.all([inbox(), activities()])))
        await pause(100)
      }
    }
  },
}
