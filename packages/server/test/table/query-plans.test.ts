import { sql } from 'kysely'
import { afterEach, describe, expect, test, vi } from 'vitest'
import * as jobs from '../../src/store/jobs.ts'
import { tables } from '../../src/store/schema/tables.ts'
import * as given from '../support/given.ts'
import { useServer } from '../support/harness.ts'
import { recordSqlite } from '../support/measures/sqlite-statements.ts'
import { seed } from '../support/data/large-data.ts'

const organizationId = 'org_1'
/** As many ids as one read or one write may name in these tests. SQLite decides by the number of values in a list. */
const [readIds, writtenIds] = [30, 200]
const ids = (prefix: string, count: number) =>
  Array.from({ length: count }, (_, index) => `${prefix}${index}`)

/**
 * Whether SQLite reads all rows of an organization or of an API key, to find those that have one of the values in a list. For
 * `organizations` the two columns are the whole key.
 */
const isBroad = (detail: string) => {
  const table = /^(?:SEARCH|SCAN) (\w+)/.exec(detail)?.[1] ?? ''
  if (!(table in tables) || table === 'organizations') return false
  return (
    detail.startsWith('SCAN') || /\(api_key=\?(?: AND organization_id=\?)?(?: AND \w+[<>]\?)?\)/.test(detail)
  )
}

/** Lists of annotations have conditions as columns. They do not decide which rows are read. */
const withoutColumns = (statement: string) =>
  statement.replaceAll(/case when exists \(.*?\) then 1 else 0 end/gs, '')

const hasList = (statement: string) => / in \(\s*(\?|select)/.test(withoutColumns(statement))

describe('the queries of SQLite, which has no statistics', () => {
  const server = useServer('sqlite', { isOwn: true })
  afterEach(() => vi.restoreAllMocks())
  /** The parts of the plan with which SQLite runs the statement. */
  const planOf = async (statement: string) => {
    const plan = sql<{ detail: string }>`explain query plan ${sql.raw(statement)}`
    return (await plan.execute(server.database.read)).rows.map(({ detail }) => detail)
  }

  test('[S2] a request with a long list of ids reads only the rows that it names', async () => {
    const tenant = await given.tenant(server)
    const { client } = tenant
    const run = recordSqlite()
    const organization = { organizationId }
    const userIds = ids('u', readIds)
    const documentIds = ids('d', readIds)
    const groupIds = ids('g', readIds)
    await given.organization(tenant)
    const documents = ids('d', writtenIds).map((documentId) => ({ documentId }))
    await client.documents.add({ ...organization, documents })
    await client.documents.update({ ...organization, documents })
    await client.documents.get({ ...organization, documentIds })
    const folderIds = ids('f', readIds)
    const folders = ids('f', writtenIds).map((folderId) => ({ folderId }))
    await client.folders.add({ ...organization, folders })
    await client.documents.move({ ...organization, documentIds, folderId: 'f0' })
    await client.permissions.get({ ...organization, userIds, documentIds, folderIds })
    await client.permissions.explain({ ...organization, userId: 'u0', documentId: 'd0' })
    for (const level of [{}, { documentId: 'd0' }, { folderId: 'f0' }]) {
      const users = ids('u', writtenIds).map((userId) => ({ userId, email: `${userId}@example.com` }))
      await client.users.add({ ...organization, ...level, users })
      await client.users.update({ ...organization, ...level, users })
      await client.users.get({ ...organization, ...level, userIds })
    }
    const groups = groupIds.map((groupId) => ({ groupId, groupName: groupId }))
    await client.userGroups.add({ ...organization, organizationUserGroups: groups })
    for (const members of [[], ids('u', writtenIds)]) {
      if (members.length > 0) {
        const group = { ...organization, organizationUserGroupId: 'g0' }
        await client.userGroups.addUsers({ ...group, userIds: members })
      }
      await client.users.get({ ...organization, organizationUserGroupIds: groupIds })
      await client.users.get({ ...organization, allDocuments: true, organizationUserGroupIds: groupIds })
    }
    const notifyUsers = ids('u', writtenIds).map((userId) => ({ userId }))
    const notificationIds = ids('n', readIds)
    for (const notificationId of notificationIds) {
      await given.notification(tenant, { ...organization, documentId: 'd0', notificationId, notifyUsers })
    }
    for (const filter of [{ documentId: 'd0' }, { userId: 'u0' }, { documentId: 'd0', userId: 'u0' }]) {
      expect((await client.notifications.get({ ...organization, ...filter })).data).toHaveLength(readIds)
      await client.notifications.get({ ...organization, ...filter, notificationIds })
      const changes = notificationIds.map((id) => ({ id, readByUserIds: userIds, persistReadForUsers: true }))
      await client.notifications.update({ ...organization, ...filter, notifications: changes })
    }
    await client.notifications.delete({ ...organization, documentId: 'd0', locationId: 7 })
    await client.notifications.delete({ ...organization, userId: 'u1', notificationIds })
    await client.notifications.delete({ ...organization, documentId: 'd0', notificationIds })
    await client.activityConfig.update({ activityServiceConfig: { isEnabled: true, immutable: false } })
    const activityIds = ids('a', writtenIds)
    const activities = activityIds.map((id) => ({
      id,
      featureType: 'custom' as const,
      actionType: 'seen',
      actionUser: { userId: id },
      targetEntityId: 'e',
    }))
    await client.activities.add({ ...organization, documentId: 'd0', activities })
    await client.activities.update({ ...organization, activities: activityIds.map((id) => ({ id })) })
    for (const filter of [{}, { documentId: 'd0' }, { targetEntityId: 'e' }, { userId: 'a0' }]) {
      const some = { ...organization, ...filter, activityIds: activityIds.slice(0, readIds) }
      await client.activities.get(some)
      await client.activities.get({ ...organization, ...filter })
    }
    await client.activities.delete({ ...organization, documentId: 'd0', targetEntityId: 'e', activityIds })
    await client.activities.delete({ ...organization, documentId: 'd0' })
    const d0 = { ...organization, documentId: 'd0' }
    const annotationIds = ids('a', readIds)
    const commentAnnotations = ids('a', writtenIds).map((annotationId, index) => ({
      annotationId,
      commentData: [{ commentText: '{{u0}}{{u1}}', from: { userId: `u${index}` } }],
    }))
    await client.commentAnnotations.add({ ...d0, commentAnnotations })
    const filters = {
      userIds,
      mentionedUserIds: userIds,
      statusIds: ids('s', readIds),
      locationIds: ids('l', readIds),
    }
    for (const place of [{}, { documentIds }, { folderId: 'f0' }]) {
      await client.commentAnnotations.get({ ...organization, ...place, ...filters })
      await client.commentAnnotations.get({ ...organization, ...place, ...filters, annotationIds })
    }
    await client.commentAnnotations.count({ ...organization, documentIds, userId: 'u0', statusIds: ['OPEN'] })
    const thread = { ...d0, annotationId: 'a0' }
    const commentIds = Array.from({ length: writtenIds }, (_, index) => index)
    const commentData = commentIds
      .slice(0, 100)
      .map((commentId) => ({ commentId, commentText: 'x', from: { userId: 'u0' } }))
    await client.comments.add({ ...thread, commentData })
    await client.comments.get({ ...thread, commentIds, userIds })
    await client.comments.update({ ...thread, commentIds, updatedData: { commentText: '{{u1}}' } })
    await client.comments.delete({ ...thread, commentIds })
    const updateUsers = ids('u', readIds).map((userId) => ({
      oldUser: { userId },
      newUser: { userId: `${userId}x` },
    }))
    await client.commentAnnotations.update({ ...d0, annotationIds: ids('a', writtenIds), updateUsers })
    await client.commentAnnotations.delete({ documentId: 'd0', annotationIds: ids('a', writtenIds) })
    await client.events.get({ names: ['comment.add'], organizationId, documentId: 'd0' })
    await client.users.delete({ ...organization, userIds })
    await client.documents.delete({ ...organization, documentIds })

    const withLists = [...new Set(run.statements())].filter(hasList)
    expect(withLists.length).toBeGreaterThan(30)
    const broad: [string, string][] = []
    for (const statement of withLists) {
      const details = await planOf(statement)
      for (const detail of details) if (isBroad(detail)) broad.push([detail, statement])
      const isByNotificationIds = /"public_id" in \(/.test(statement)
      if (isByNotificationIds && !details.some((detail) => detail.includes(' public_id=?'))) {
        broad.push([details.join('; '), statement])
      }
    }
    expect(broad).toEqual([])
  })

  test('[S2] [S9] deliveries and erasures read only rows of their notifications and users, and find jobs by their API key', async () => {
    const tenant = await given.tenant(server)
    const { client } = tenant
    const organization = { organizationId }
    const userIds = ids('u', readIds)
    await given.document(tenant, 'd0')
    await given.users(tenant, [...userIds, 'reader'])
    const notificationConfig = (batchConfig: object) =>
      client.notificationServiceConfig.update({ notificationServiceConfig: { batchConfig } })
    const batch = { isEnabled: true, batchWindowSeconds: 60, maxActivities: 2 }
    await notificationConfig({ document: batch, user: batch })
    const d0 = { ...organization, documentId: 'd0' }
    const run = recordSqlite()
    const commentData = userIds.map((userId, commentId) => ({
      commentId,
      commentText: '{{u0}}{{reader}}',
      from: { userId },
      triggerNotification: true,
    }))
    const commentAnnotations = ids('a', 2).map((annotationId) => ({ annotationId, commentData }))
    await client.commentAnnotations.add({ ...d0, commentAnnotations })
    const inbox = async () => (await client.notifications.get({ ...d0, userId: 'reader' })).data.length
    await expect.poll(inbox).toBeGreaterThan(0)
    const thread = { ...d0, annotationId: 'a0' }
    await client.comments.addReaction({ ...thread, commentId: 0, icon: 'ok', userId: 'u0' })
    const { data } = await client.userData.delete({ userIds })
    const isErased = async () =>
      (await client.userData.deleteStatus({ jobId: data.jobId })).data.isDeleteCompleted
    await expect.poll(isErased, { timeout: 30_000 }).toBe(true)

    // What a starting server does.
    await jobs.releaseAll(server.database, Date.now())
    for await (const lanes of jobs.findDueLanes(server.database.read, Date.now())) expect(lanes).toEqual([])

    const broad: [string, string][] = []
    /** By which columns the rows of jobs and of pending notifications are found. */
    const keys = { jobs: new Set<string>(), pending_notifications: new Set<string>() }
    for (const statement of new Set(run.statements())) {
      for (const detail of await planOf(statement)) {
        // Only the comments and reactions of one annotation are sorted. Scans follow an index.
        if (detail.includes('TEMP B-TREE')) expect(statement).toContain('"c"."number" = ?')
        const [, table, key = ''] = /^(?:SEARCH|SCAN) (\w+)(?:.*\((.*)\))?/.exec(detail) ?? []
        if (table === 'jobs' || table === 'pending_notifications') keys[table].add(key)
        else if (hasList(statement) && isBroad(detail)) broad.push([detail, statement])
      }
    }
    expect(broad).toEqual([])
    const times = ['available_at<?', 'available_at>? AND available_at<?']
    expect(keys.jobs).toEqual(
      new Set([
        'api_key=? AND job_id=?',
        'api_key>?',
        'api_key=?',
        'api_key=? AND lane>?',
        ...times.map((one) => `api_key=? AND lane=? AND ${one}`),
      ]),
    )
    const inOrganization = 'api_key=? AND organization_id=?'
    expect(keys.pending_notifications).toEqual(
      new Set(
        [
          'notification_id=?',
          'document_id=? AND deliver_at>?',
          'actor_id=? AND deliver_at>?',
          'actor_id=?',
        ].map((one) => `${inOrganization} AND ${one}`),
      ).add('rowid=?'),
    )
  })

  test('[S2] a read for one user looks up each grant, however many grants the user has', async () => {
    const tenant = await given.tenant(server)
    const { client } = tenant
    await given.organization(tenant)
    const [folderId, documentId] = ['f0', 'd0']
    await client.folders.add({ organizationId, folders: [{ folderId }] })
    await client.documents.add({ organizationId, folderId, documents: [{ documentId }] })
    const run = recordSqlite()
    await client.permissions.explain({ organizationId, userId: 'u0', documentId })
    await client.permissions.get({ organizationId, userIds: ['u0'], folderIds: [folderId] })
    const statements = run.statements().filter((one) => one.includes('"grants"'))
    // One reads the fields of the access context, of which a user has few.
    expect(statements).toHaveLength(3)
    for (const statement of statements) {
      const plan = await sql<{ detail: string }>`explain query plan ${sql.raw(statement)}`.execute(
        server.database.read,
      )
      expect(plan.rows[0]?.detail).toMatch(/^SEARCH grants .*user_id=\? AND resource_type=\?/)
    }
  })

  test('[12.2] [18.2] [21.2.1] [S2] a filter that matches few items takes few statements, however many other items there are', async () => {
    const tenant = await given.tenant(server)
    const { client } = tenant
    const organization = { organizationId }
    await given.organization(tenant)
    const fill = seed(server.database, tenant.apiKey, organizationId)
    await fill.documents(2)
    await fill.notifications(20_000, 1)
    await fill.inbox(20_000, 'reader')
    await fill.members(20_000)
    const groups = { ...organization, organizationUserGroups: [{ groupId: 'g', groupName: 'G' }] }
    await client.userGroups.add(groups)
    await fill.groupMembers(100, 'g')
    const rare = { ...organization, notificationId: 'rare', notifyUsers: [{ userId: 'reader' }] }
    await given.notification(tenant, { ...rare, documentId: 'd1', locationId: 7 })
    const run = recordSqlite()
    const expectFewStatements = async (read: () => Promise<{ data: unknown }>, found: number) => {
      const before = run.statements().length
      expect((await read()).data).toHaveLength(found)
      expect(run.statements().length - before).toBeLessThan(20)
    }
    for (const filter of [
      { documentId: 'd1', locationId: 7 },
      { documentId: 'd1', locationId: 7, userId: 'reader' },
    ]) {
      await expectFewStatements(() => client.notifications.get({ ...organization, ...filter }), 1)
    }
    const elsewhere = { ...organization, documentId: 'd2', userId: 'reader' }
    await expectFewStatements(() => client.notifications.get(elsewhere), 0)
    await fill.activities(20_000)
    const activity = { featureType: 'custom' as const, actionType: 'seen', targetEntityId: 'rare' }
    await client.activityConfig.update({ activityServiceConfig: { isEnabled: true } })
    await client.activities.add({
      ...organization,
      documentId: 'd1',
      activities: [{ ...activity, actionUser: { userId: 'rare' } }],
    })
    for (const filter of [
      { documentId: 'd1', targetEntityId: 'rare' },
      { documentId: 'd1', userId: 'rare', targetEntityId: 'e' },
      { userId: 'nobody', documentId: 'd1', targetEntityId: 'e' },
    ]) {
      const found = filter.targetEntityId === 'rare' ? 1 : 0
      await expectFewStatements(() => client.activities.get({ ...organization, ...filter }), found)
    }
    const inGroup = { ...organization, organizationUserGroupIds: ['g'], pageSize: 1000 }
    await expectFewStatements(() => client.users.get(inGroup), 100)
  })
})
