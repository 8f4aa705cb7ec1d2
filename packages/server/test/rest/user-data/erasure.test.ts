import { describe, expect, test } from 'vitest'
import { stored } from '../../support/data/filled-tenant.ts'
import * as given from '../../support/given.ts'
import { stores, type TestServer, useServer } from '../../support/harness.ts'
import { seed } from '../../support/data/large-data.ts'
import { runInShortSteps } from '../../support/measures/other-tenant.ts'

const organizationId = 'org_1'
const documentId = 'doc_1'
const ref = { organizationId, documentId }
const ada = { userId: 'ada-4711', name: 'Ada Erased', email: 'ada-4711@example.com' }
const grace = { userId: 'grace', name: 'Grace' }
const timeout = { timeout: 120_000 }

async function erase({ client }: given.Tenant, input: { userIds: string[]; organizationIds?: string[] }) {
  const { data } = await client.userData.delete(input)
  const status = async () => (await client.userData.deleteStatus({ jobId: data.jobId })).data
  await expect.poll(async () => (await status()).isDeleteCompleted, timeout).toBe(true)
  return { ...data, status: await status() }
}

/** A tenant in which Ada has left something everywhere, and Grace something that must stay. */
async function tenantWithAda(server: TestServer) {
  const tenant = await given.tenant(server)
  const { client } = tenant
  await given.document(tenant)
  await client.users.add({ organizationId, users: [ada, grace] })
  await client.users.add({ ...ref, users: [ada] })
  await client.userGroups.add({
    organizationId,
    organizationUserGroups: [{ groupId: 'group', groupName: 'Group' }],
  })
  await client.userGroups.addUsers({
    organizationId,
    organizationUserGroupId: 'group',
    userIds: [ada.userId, 'grace'],
  })
  await client.commentAnnotations.add({
    ...ref,
    commentAnnotations: [
      { annotationId: 'alone', commentData: [{ commentText: 'only Ada-text here', from: ada }] },
      {
        annotationId: 'begun',
        commentData: [
          { commentId: 1, commentText: 'first Ada-text', from: ada },
          { commentId: 2, commentText: `{{${ada.userId}}} I agree`, from: grace },
        ],
        visibility: { type: 'restricted', userIds: ['grace'] },
      },
      {
        annotationId: 'mentioned',
        commentData: [
          {
            commentId: 3,
            commentText: 'Ask @Ada Erased.',
            from: grace,
            taggedUserContacts: [{ text: '@Ada Erased', userId: ada.userId }],
          },
        ],
        assignedTo: ada,
      },
      { annotationId: 'other', commentData: [{ commentId: 4, commentText: 'Fine.', from: grace }] },
    ],
  })
  const other = { ...ref, annotationId: 'other' }
  await client.commentAnnotations.update({
    ...ref,
    annotationIds: ['other'],
    updatedData: { status: { type: 'terminal' }, resolvedByUserId: ada.userId },
  })
  await client.comments.addReaction({ ...other, commentId: 4, icon: 'HEART_FACE', userId: ada.userId })
  await client.commentAnnotations.subscribe({ ...other, userId: ada.userId })
  await client.commentAnnotations.markViewed({ ...ref, annotationIds: ['other'], userId: ada.userId })
  await given.notification(tenant, {
    notificationId: 'caused',
    actionUser: ada,
    notifyUsers: [{ userId: 'grace' }],
  })
  await given.notification(tenant, {
    notificationId: 'received',
    notifyUsers: [ada, { userId: 'grace' }],
    displayHeadlineMessageTemplateData: { task: 'x', recipient: ada },
  })
  await client.notifications.setConfig({
    organizationId,
    userIds: [ada.userId],
    config: { inbox: 'ALL' },
  })
  await client.presence.add({ ...ref, users: [ada] })
  await client.activityConfig.update({ activityServiceConfig: { isEnabled: true, immutable: true } })
  await client.activities.add({
    ...ref,
    activities: [
      { featureType: 'custom', actionType: 'seen', actionUser: ada, targetEntityId: 'x', id: 'act_ada' },
      {
        featureType: 'custom',
        actionType: 'assigned',
        actionUser: grace,
        targetEntityId: 'x',
        id: 'act_grace',
        entityData: { assignee: ada, title: 'kept' },
      },
    ],
  })
  const visibility = { type: 'restricted' as const, userIds: [ada.userId] }
  await client.commentAnnotations.add({
    ...ref,
    commentAnnotations: [
      { annotationId: 'deleted', commentData: [{ commentText: 'For Ada.', from: grace }], visibility },
    ],
  })
  await client.commentAnnotations.delete({ ...ref, annotationIds: ['deleted'] })
  await client.liveState.broadcast({ ...ref, liveStateDataId: 'banner', data: { text: 'kept' } })
  await client.crdt.add({ ...ref, editorId: 'note', type: 'text', data: 'x' })
  await client.crdtVersions.add({ ...ref, editorId: 'note', name: 'v', userId: ada.userId })
  const editor = { api_key: tenant.apiKey, organization_id: organizationId, document_id: documentId }
  await server.database.write(async (db) => {
    const ofEditor = { ...editor, editor_id: 'note' }
    await db
      .insertInto('editor_clients')
      .values({ ...ofEditor, client_id: 7, user_id: ada.userId })
      .execute()
    await db
      .updateTable('editors')
      .set({ last_updated_by: ada.userId })
      .where('api_key', '=', tenant.apiKey)
      .execute()
    await db
      .updateTable('editor_updates')
      .set({ user_id: ada.userId })
      .where('api_key', '=', tenant.apiKey)
      .execute()
    await db
      .updateTable('live_states')
      .set({ updated_by: ada.userId })
      .where('api_key', '=', tenant.apiKey)
      .execute()
  })
  return tenant
}

describe.each(stores)('userData.delete on %s', (store) => {
  const server = useServer(store, { isOwn: true })
  const rowsNaming = async (tenant: given.Tenant, pattern: RegExp) =>
    Object.entries(await stored(server, tenant)).flatMap(([name, rows]) =>
      rows
        // Signals are deleted after an hour (B3.3).
        .filter((row) => name !== 'signals' && pattern.test(String(row)))
        .map((row) => ({ name, row: String(row) })),
    )

  test('[14.2] [14.2.1] [14.2.2] [14.2.3] an erasure leaves no row that names the user or has a text of the user, and keeps what others wrote', async () => {
    const tenant = await tenantWithAda(server)
    const { client } = tenant
    const erased = /ada-4711|Ada Erased|Ada-text/
    const before = new Set((await rowsNaming(tenant, erased)).map(({ name }) => name))
    const tables =
      'users grants user_group_members annotations removed_annotations comments annotation_users comment_reactions ' +
      'annotation_views events notifications notification_recipients notification_configs presence activities ' +
      'live_states editors editor_clients editor_updates editor_version_authors'
    for (const table of tables.split(' ')) {
      expect(before).toContain(table)
    }

    const { status } = await erase(tenant, { userIds: [ada.userId] })
    expect(status).toEqual({
      isDeleteCompleted: true,
      tasksLeft: 0,
      lastTaskCompletedTime: expect.any(Number),
    })
    const left = await rowsNaming(tenant, erased)
    // Removed grants stay until every token that was issued before has expired.
    expect(left.filter(({ name }) => name !== 'grants')).toEqual([])
    for (const { row } of left) expect(JSON.parse(row)).toMatchObject({ expires_at: 0 })

    const { data } = await client.commentAnnotations.get({ organizationId })
    const byId = new Map((data as { annotationId: string }[]).map((one) => [one.annotationId, one]))
    expect([...byId.keys()].sort()).toEqual(['begun', 'mentioned', 'other'])
    expect(byId.get('begun')).toMatchObject({
      from: { userId: 'grace' },
      involvedUserIds: ['grace'],
      comments: [{ commentId: 2, commentText: '@deleted user I agree', to: [] }],
      visibilityConfig: { type: 'restricted', userIds: ['grace'] },
    })
    expect(byId.get('mentioned')).toMatchObject({
      comments: [{ commentText: 'Ask @deleted user.', taggedUserContacts: [] }],
    })
    expect(byId.get('mentioned')).not.toHaveProperty('assignedTo')
    expect(byId.get('other')).toMatchObject({ comments: [{ commentText: 'Fine.', reactionAnnotations: [] }] })
    expect(byId.get('other')).not.toHaveProperty('resolvedByUserId')
    const inbox = (await client.notifications.get({ organizationId, userId: 'grace' })).data
    expect(inbox.map(({ id }) => id)).toEqual(['received'])
    const activities = (await client.activities.get({ organizationId })).data
    expect(activities).toMatchObject([{ id: 'act_grace', entityData: { title: 'kept' } }])
    const deleted = async () =>
      (await client.events.get({ names: ['comment.delete'] })).data.events.map(({ payload }) => payload)
    await expect.poll(deleted).toEqual([
      {
        annotation: { annotationId: 'alone', annotationNumber: 1 },
        comment: { commentId: expect.any(Number) },
      },
      { annotation: { annotationId: 'begun', annotationNumber: 2 }, comment: { commentId: 1 } },
    ])
  })

  test('[14.2.2] the events of an erased user have only ids, also if events of others have the rest', async () => {
    const tenant = await given.tenant(server)
    const { client } = tenant
    await given.document(tenant)
    await client.users.add({ organizationId, users: [ada, grace] })
    const comments = (...authors: { userId: string }[]) =>
      authors.map((from, index) => ({ from, commentText: `${index}` }))
    const threads = ['one', 'other']
    await client.commentAnnotations.add({
      ...ref,
      commentAnnotations: threads.map((annotationId) => ({
        annotationId,
        context: { kept: 'context' },
        commentData: comments(grace),
      })),
    })
    await client.comments.add({ ...ref, annotationId: 'one', commentData: comments(ada, grace) })
    await client.comments.add({ ...ref, annotationId: 'other', commentData: comments(grace, ada, grace) })
    const added = async () =>
      (await client.events.get({ names: ['comment.add'] })).data.events.map(({ payload }) => payload)
    await expect.poll(added).toHaveLength(5)
    await erase(tenant, { userIds: [ada.userId] })
    const ids = (annotationNumber: number) => ({
      annotationId: threads[annotationNumber - 1],
      annotationNumber,
    })
    const emptied = (number: number) => ({
      annotation: ids(number),
      comment: { commentId: expect.any(Number) },
    })
    const kept = (number: number, annotation: object) => ({
      annotation: { ...ids(number), ...annotation },
      comment: { from: { userId: 'grace' } },
    })
    const found = await added()
    expect([found[0], found[3]]).toEqual([emptied(1), emptied(2)])
    // The event that had the annotation of the first call is emptied.
    expect(found[1]).toMatchObject(kept(1, {}))
    expect(found[1]?.annotation).toEqual(ids(1))
    const whole = kept(2, { context: { kept: 'context' } })
    expect([found[2], found[4]]).toMatchObject([whole, whole])
  })

  test('[14.2] [14.2.4] an erasure answers 202 with one task for each user and organization, and unlimited it covers all organizations', async () => {
    const tenant = await given.tenant(server)
    for (const id of ['org_1', 'org_2', 'org_3']) {
      await tenant.client.users.add({ organizationId: id, users: [ada, grace] })
    }
    const answer = await server.post(
      '/v1/users/data/delete',
      { data: { userIds: [ada.userId, 'nobody', ada.userId] } },
      tenant.headers,
    )
    expect(answer.status).toBe(202)
    expect(answer.body.result).toMatchObject({
      status: 'success',
      message: 'Data deletion process has been initiated.',
      data: { tasksCount: 6 },
    })
    const { jobId } = answer.body.result.data as { jobId: string }
    await expect
      .poll(async () => (await tenant.client.userData.deleteStatus({ jobId })).data.tasksLeft, timeout)
      .toBe(0)
    for (const id of ['org_1', 'org_2', 'org_3']) {
      const { data } = await tenant.client.users.get({ organizationId: id })
      expect((data as { userId: string }[]).map(({ userId }) => userId)).toEqual(['grace'])
    }
    expect(await rowsNaming(tenant, /Ada Erased/)).toEqual([])
    expect(
      await server.post('/v2/users/data/delete/status', { data: { jobId: 'job_none' } }, tenant.headers),
    ).toMatchObject({ status: 400, body: { error: { message: 'Job does not exist.' } } })
  })

  test('[14.2.4] an erasure that is limited to an organization keeps the profile and what is elsewhere', async () => {
    const tenant = await given.tenant(server)
    for (const id of ['org_1', 'org_2']) await tenant.client.users.add({ organizationId: id, users: [ada] })
    expect(await erase(tenant, { userIds: [ada.userId], organizationIds: ['org_1', 'org_1'] })).toMatchObject(
      {
        tasksCount: 1,
      },
    )
    expect((await tenant.client.users.get({ organizationId: 'org_1' })).data).toEqual([])
    expect((await tenant.client.users.get({ organizationId: 'org_2' })).data).toMatchObject([ada])
  })

  test('[14.2.5] [S1] [S2] the erasure of a user with very many comments runs in short steps', async () => {
    const tenant = await given.tenant(server)
    await given.document(tenant)
    await given.document(tenant, 'doc_2')
    await seed(server.database, tenant.apiKey, 'org_1').annotations(
      store === 'sqlite' ? 800 : 1600,
      'doc_2',
      ada.userId,
    )
    const comments = Array.from({ length: 100 }, () => ({ commentText: 'x'.repeat(1000), from: ada }))
    await tenant.client.commentAnnotations.add({
      ...ref,
      commentAnnotations: [{ annotationId: 'long', commentData: [{ commentText: 'mine', from: grace }] }],
    })
    await tenant.client.comments.add({ ...ref, annotationId: 'long', commentData: comments })
    await runInShortSteps(server, () => erase(tenant, { userIds: [ada.userId] }))
    const { data } = await tenant.client.commentAnnotations.get({ organizationId })
    expect(data).toMatchObject([{ annotationId: 'long', comments: [{ commentText: 'mine' }] }])
    expect(await rowsNaming(tenant, /ada-4711/)).toEqual([])
  })
})
