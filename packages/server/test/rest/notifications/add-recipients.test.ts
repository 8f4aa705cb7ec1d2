import { describe, expect, test } from 'vitest'
import * as given from '../../support/given.ts'
import { stores, useServer } from '../../support/harness.ts'
import { hashOf, inbox } from './calls.ts'

describe.each(stores)('recipients of notifications.add on %s', (store) => {
  const server = useServer(store)

  test('[18.1] add notifies every user of the organization unless notifyAll is false', async () => {
    const tenant = await given.tenant(server)
    await given.users(tenant, ['u1', 'u2'])
    await given.users(tenant, ['inside'], { documentId: 'doc_1' })
    const all = await given.notification(tenant, {
      notifyAll: undefined,
      notifyUsers: [{ userId: 'guest' }, { userId: 'u2' }],
    })
    const some = await given.notification(tenant, { notifyUsers: [{ userId: 'u2' }] })
    const empty = await given.notification(tenant, { notifyAll: true, notifyUsers: [] })

    const states = async (userId: string) =>
      Object.fromEntries(
        (await tenant.client.notifications.get({ organizationId: 'org_1', userId })).data.map((one) => [
          one.id,
          { isUnread: one.isUnread, forYou: one.forYou },
        ]),
      )
    const named = { isUnread: true, forYou: true }
    const reached = { isUnread: true, forYou: false }
    expect(await states('u1')).toEqual({ [all]: reached, [empty]: reached })
    expect(await states('u2')).toEqual({ [all]: named, [some]: named, [empty]: reached })
    expect(await states('guest')).toEqual({ [all]: named })
    expect(await states('inside')).toEqual({})
    const { data } = await tenant.client.notifications.get({
      organizationId: 'org_1',
      documentId: 'doc_1',
      notificationIds: [all],
    })
    expect(data[0]?.notifyUsersByUserId).toEqual({ [hashOf('guest')]: true, [hashOf('u2')]: true })
  })

  test('[18.1] add does not notify users whose membership has expired', async () => {
    const tenant = await given.tenant(server)
    const grant = (userId: string, expiresAt: number) =>
      tenant.client.permissions.add({
        user: { userId },
        permissions: { resources: [{ type: 'organization', id: 'org_1', expiresAt }] },
      })
    const seconds = Math.floor(Date.now() / 1000)
    await grant('gone', seconds - 1)
    await grant('here', seconds + 3600)
    const id = await given.notification(tenant, { notifyAll: true, notifyUsers: [] })
    expect(await inbox(tenant, 'gone')).toEqual([])
    expect(await inbox(tenant, 'here')).toEqual([id])
  })

  test('[18.1] add notifies thousands of members in one call', async () => {
    const tenant = await given.tenant(server)
    const userIds = Array.from({ length: 2100 }, (_, index) => `member ${index}`)
    for (let from = 0; from < userIds.length; from += 500)
      await given.users(tenant, userIds.slice(from, from + 500))
    const id = await given.notification(tenant, { notifyAll: true, verifyUserPermissions: true })
    for (const userId of ['member 0', 'member 1000', 'member 2099', 'u1'])
      expect(await inbox(tenant, userId)).toEqual([id])
  })

  test('[18.1] an email address reaches users who have it when the notification is added, and users who get the address later', async () => {
    const tenant = await given.tenant(server)
    const { client } = tenant
    await client.users.add({ organizationId: 'org_1', users: [{ userId: 'u1', email: 'One@Example.com' }] })
    const known = await given.notification(tenant, {
      notifyUsers: [{ email: ' one@example.COM ' }, { userId: 'u1' }],
    })
    const early = await given.notification(tenant, { notifyUsers: [{ email: 'two@example.com' }] })
    expect(await inbox(tenant, 'u1')).toEqual([known])
    expect(await inbox(tenant, 'u2')).toEqual([])
    await client.users.add({ organizationId: 'org_1', users: [{ userId: 'u2', email: 'two@example.com' }] })
    expect(await inbox(tenant, 'u2')).toEqual([early])
    expect(await inbox(tenant, 'two@example.com')).toEqual([])
    const { data } = await client.notifications.get({
      organizationId: 'org_1',
      documentId: 'doc_1',
      order: 'asc',
    })
    expect(
      data.map(({ notifyUsers, notifyUsersByUserId }) => ({ notifyUsers, notifyUsersByUserId })),
    ).toEqual([
      { notifyUsers: { [hashOf('one@example.com')]: true }, notifyUsersByUserId: { [hashOf('u1')]: true } },
      { notifyUsers: { [hashOf('two@example.com')]: true }, notifyUsersByUserId: {} },
    ])
  })

  test('[18.1] a user id that looks like an email address is used as an id', async () => {
    const tenant = await given.tenant(server)
    const id = await given.notification(tenant, {
      notifyUsers: [{ userId: 'a@example.com' }, { email: 'a@example.com' }],
    })
    expect(await inbox(tenant, 'a@example.com')).toEqual([id])
    const { data } = await tenant.client.notifications.get({ organizationId: 'org_1', documentId: 'doc_1' })
    expect(data[0]).toMatchObject({
      notifyUsers: { [hashOf('a@example.com')]: true },
      notifyUsersByUserId: { [hashOf('a@example.com')]: true },
    })
  })

  test('[18.1] a user reached by id and by email address gets the notification once', async () => {
    const tenant = await given.tenant(server)
    const ids: string[] = []
    for (let index = 0; index < 5; index++) {
      ids.unshift(
        await given.notification(tenant, { notifyUsers: [{ userId: 'u1' }, { email: 'u1@example.com' }] }),
      )
      ids.unshift(await given.notification(tenant, { notifyUsers: [{ email: 'u1@example.com' }] }))
    }
    await tenant.client.users.add({
      organizationId: 'org_1',
      users: [{ userId: 'u1', email: 'u1@example.com' }],
    })
    const seen: string[] = []
    let pageToken: string | undefined
    do {
      const page = await tenant.client.notifications.get({
        organizationId: 'org_1',
        userId: 'u1',
        pageSize: 3,
        ...(pageToken && { pageToken }),
      })
      seen.push(...page.data.map((one) => one.id))
      pageToken = page.nextPageToken
    } while (pageToken)
    expect(seen.length).toBe(10)
    expect(new Set(seen)).toEqual(new Set(ids))
  })

  test('[18.1] add stores actionUser as a user', async () => {
    const tenant = await given.tenant(server)
    await given.notification(tenant, { actionUser: { userId: 'ada', email: 'ada@example.com' } })
    const id = await given.notification(tenant, { notifyUsers: [{ email: 'ada@example.com' }] })
    expect(await inbox(tenant, 'ada')).toEqual([id])
  })

  test('[18.1.1] users with inbox NONE get no notifications, and users with MINE only those that name them', async () => {
    const tenant = await given.tenant(server)
    const { client } = tenant
    const members = ['all', 'none', 'none here', 'none but here', 'mine', 'email only']
    await given.users(tenant, members)
    const set = (userId: string, inbox: 'ALL' | 'MINE' | 'NONE', documentIds?: string[]) =>
      client.notifications.setConfig({
        organizationId: 'org_1',
        userIds: [userId],
        documentIds,
        config: { inbox },
      })
    await set('none', 'NONE')
    await set('none here', 'NONE', ['doc_1'])
    await set('none but here', 'NONE')
    await set('none but here', 'ALL', ['doc_1'])
    await set('mine', 'MINE')
    await client.notifications.setConfig({
      organizationId: 'org_1',
      userIds: ['email only'],
      config: { email: 'NONE' },
    })

    const reached = async (fields: Parameters<typeof given.notification>[1]) => {
      const id = await given.notification(tenant, fields)
      const inboxes = await Promise.all(members.map((userId) => inbox(tenant, userId)))
      return members.filter((_, index) => inboxes[index]?.includes(id))
    }
    expect(await reached({ notifyAll: true })).toEqual(['all', 'none but here', 'email only'])
    const named = members.map((userId) => ({ userId }))
    expect(await reached({ notifyUsers: named })).toEqual(['all', 'none but here', 'mine', 'email only'])
    expect(await reached({ notifyUsers: named, documentId: 'doc_2' })).toEqual([
      'all',
      'none here',
      'mine',
      'email only',
    ])
  })

  test('[18.1] verifyUserPermissions drops recipients without read access to the document', async () => {
    const tenant = await given.tenant(server)
    const { client } = tenant
    await given.users(tenant, ['member', 'reader'])
    await given.users(tenant, ['reader'], { documentId: 'doc_1' })
    await client.documents.updateAccess({
      organizationId: 'org_1',
      documentIds: ['doc_1'],
      accessType: 'restricted',
    })
    const fields = { notifyAll: true, notifyUsers: [{ userId: 'guest' }, { email: 'nobody@example.com' }] }
    const checked = await given.notification(tenant, { ...fields, verifyUserPermissions: true })
    expect(await inbox(tenant, 'reader')).toEqual([checked])
    expect(await inbox(tenant, 'member')).toEqual([])
    expect(await inbox(tenant, 'guest')).toEqual([])
    const { data } = await client.notifications.get({ organizationId: 'org_1', documentId: 'doc_1' })
    expect(data[0]).toMatchObject({ id: checked, notifyUsers: {}, notifyUsersByUserId: {} })

    const unchecked = await given.notification(tenant, fields)
    expect(await inbox(tenant, 'guest')).toEqual([unchecked])

    await client.documents.updateAccess({
      organizationId: 'org_1',
      documentIds: ['doc_1'],
      accessType: 'public',
    })
    const open = await given.notification(tenant, { ...fields, verifyUserPermissions: true })
    expect(await inbox(tenant, 'guest')).toEqual([open, unchecked])
    expect(
      (await client.notifications.get({ organizationId: 'org_1', documentId: 'doc_1' })).data[0]?.notifyUsers,
    ).toEqual({
      [hashOf('nobody@example.com')]: true,
    })

    const byAddress = { notifyUsers: [{ email: 'nobody@example.com' }], verifyUserPermissions: true }
    await given.notification(tenant, byAddress)
    expect(
      (await client.notifications.get({ organizationId: 'org_1', documentId: 'doc_1' })).data[0]?.notifyUsers,
    ).toEqual({
      [hashOf('nobody@example.com')]: true,
    })

    await client.organizations.updateDisableState({ organizationIds: ['org_1'], disabled: true })
    await given.notification(tenant, { ...fields, verifyUserPermissions: true })
    expect(await inbox(tenant, 'reader')).toEqual([open, unchecked, checked])
  })
})
