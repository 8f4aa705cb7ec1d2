import { describe, expect, test } from 'vitest'
import { stored } from '../../support/data/filled-tenant.ts'
import { stores, useServer } from '../../support/harness.ts'
import { annotationId, organizationId, ref, scene } from '../inbox/scene.ts'

const userId = 'ada-4711'
const profile = { userId, name: 'Ada Erased', email: 'ada-4711@example.com' }
const timeout = { timeout: 20_000 }

describe.each(stores)('what events left in inboxes and activities on %s', (store) => {
  const server = useServer(store)

  /** Ada and Grace did something in threads of each other. Hedy was notified of all of it. */
  async function erasedScene() {
    const base = await scene(server, ['grace', 'hedy', userId])
    const { client, signIn, inboxOf } = base
    await client.activityConfig.update({ activityServiceConfig: { isEnabled: true } })
    const ada = await signIn(userId)
    const grace = await signIn('grace')
    await ada.notifications.get({ organizationId })
    await client.users.update({ organizationId, users: [profile] })
    const thread = { ...ref, annotationId: 'shared' }
    const update = (by: typeof ada, updatedData: object, id = 'shared') =>
      by.commentAnnotations.update({ ...ref, annotationIds: [id], updatedData })
    await ada.commentAnnotations.add({
      ...ref,
      commentAnnotations: [
        { annotationId: 'shared', commentData: [{ commentId: 1, commentText: 'Ada-text' }] },
      ],
    })
    const tagged = [{ text: '@Ada Erased', userId }]
    const mention = `Ask {{${userId}}} or @Ada Erased.`
    const commentData = [{ commentId: 2, commentText: mention, taggedUserContacts: tagged }]
    await grace.comments.add({ ...thread, commentData })
    await grace.comments.addReaction({ ...thread, commentId: 1, icon: 'HEART_FACE' })
    await update(grace, { status: { type: 'terminal' } })
    await update(grace, { assignedTo: { userId } })
    await update(grace, { assignedTo: { userId: 'hedy' } })
    await update(ada, { status: { type: 'terminal' } }, annotationId)
    await grace.comments.add({ ...ref, annotationId, commentData: [{ commentText: 'Grace-text' }] })
    await expect.poll(async () => (await inboxOf('hedy')).length, timeout).toBe(8)
    const delayConfig = { isEnabled: true, delaySeconds: 3600 }
    await client.notificationServiceConfig.update({ notificationServiceConfig: { delayConfig } })
    await update(ada, { status: { type: 'default' } }, annotationId)
    return base
  }

  test('[14.2] [14.2.2] an erasure leaves no text and no name of the user in notifications, waiting ones too, and in snapshots of activities', async () => {
    const { client, inboxOf, ...tenant } = await erasedScene()
    // A backend may store in an activity what only looks like a comment.
    const entityData = {
      commentId: 'x',
      from: { userId: 1 },
      mentioned: [userId],
      taggedUserContacts: [{ text: 1 }, 2],
    }
    const custom = { featureType: 'custom' as const, actionType: 'seen', targetEntityId: 'x' }
    await client.activities.add({
      ...ref,
      activities: [{ ...custom, actionUser: { userId: 'grace' }, entityData }],
    })
    const naming = async () =>
      Object.entries(await stored(server, { client, ...tenant })).flatMap(([table, rows]) =>
        rows
          .filter((row) => /ada-4711|Ada Erased|Ada-text/.test(String(row)))
          .map((row) => `${table} ${String(row)}`),
      )
    const tables = new Set((await naming()).map((row) => row.split(' ', 1)[0]))
    for (const table of ['notifications', 'pending_notifications', 'activities', 'events'])
      expect(tables).toContain(table)

    const { data } = await client.userData.delete({ userIds: [userId] })
    const status = async () => (await client.userData.deleteStatus({ jobId: data.jobId })).data
    await expect.poll(async () => (await status()).isDeleteCompleted, timeout).toBe(true)
    // Removed grants stay until every token that was issued before has expired, and signals for an hour (B3.3).
    expect((await naming()).filter((row) => !/^(grants|signals) /.test(row))).toEqual([])
    const inbox = await inboxOf('hedy')
    expect(inbox.map((one) => one.displayBodyMessage)).toContain('Grace-text')
    for (const one of inbox) expect(one).not.toHaveProperty('shownUsers')
    const activities = (await client.activities.get({ ...ref, order: 'asc' })).data
    expect(activities).toMatchObject([
      {
        actionType: 'comment.add',
        entityData: { comment: { commentId: 2, commentText: 'Ask @deleted user or @deleted user.' } },
      },
      { actionType: 'comment.reaction_add', entityData: { comment: { commentId: 1 } } },
      { actionType: 'comment_annotation.status_change', changes: { status: { to: { type: 'terminal' } } } },
      { actionType: 'comment_annotation.assign', changes: { assignedTo: { from: null } } },
      { actionType: 'comment_annotation.assign', changes: { assignedTo: { to: 'hedy' } } },
      { actionType: 'comment.add', entityData: { comment: { commentText: 'Grace-text' } } },
      { actionType: 'seen', entityData: { commentId: 'x' } },
    ])
  })
})
