import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import * as given from '../../support/given.ts'
import { stores, useServer } from '../../support/harness.ts'
import { seed, seedUsers } from '../../support/data/large-data.ts'
import { expectShortIterations } from '../../support/measures/loop-work.ts'
import { synced } from '../../support/clients/convergence.ts'
import { yjsClient } from '../../support/clients/yjs-client.ts'
import { tokenFor } from '../../support/access/user-tokens.ts'
import { runInShortSteps } from '../../support/measures/other-tenant.ts'

const organizationId = 'big'

describe.each(stores)('notifications with many recipients on %s', (store) => {
  const server = useServer(store, { isOwn: true })

  async function scene() {
    const tenant = await given.tenant(server)
    await given.organization(tenant, organizationId)
    const fill = seed(server.database, tenant.apiKey, organizationId)
    await fill.documents(1)
    const recipientsLeft = async () => {
      const { rows } = await sql<{ count: number }>`
        select count(*) as count from notification_recipients where api_key = ${tenant.apiKey}`.execute(
        read(),
      )
      return Number(rows[0]?.count)
    }
    return { tenant, fill, client: tenant.client, recipientsLeft }
  }
  /** More recipients than one transaction may remove (`runInShortSteps`). */
  const many = store === 'sqlite' ? 2000 : 5000
  const read = () => server.database.read

  const inShortSteps = (work: () => Promise<unknown>) => runInShortSteps(server, work)

  test('[18.1] [S2] an email address shared by thousands of users reaches each of them once, also when repeated in the request', async () => {
    const { tenant, client, recipientsLeft } = await scene()
    await seedUsers(server.database, tenant.apiKey, 2600)
    await server.database.write((db) =>
      db
        .updateTable('users')
        .set({ email: 'all@example.com' })
        .where('api_key', '=', tenant.apiKey)
        .execute(),
    )
    const email = 'All@example.com'
    const notifyUsers = [{ userId: 'u7' }, ...Array.from({ length: 499 }, () => ({ email }))]
    const add = () =>
      given.notification(tenant, { organizationId, documentId: 'd1', notificationId: 'n', notifyUsers })
    await expectShortIterations(add)
    // Recipients of an overwritten notification are removed afterwards.
    await expect.poll(recipientsLeft).toBe(2600)
    const { data } = await client.notifications.get({ organizationId, userId: 'u2600' })
    expect(data.map(({ id, forYou }) => ({ id, forYou }))).toEqual([{ id: 'n', forYou: true }])
  })
  test('[18.4.1] [S1] [S2] deleted notifications with many recipients disappear immediately and are removed in short steps', async () => {
    const { fill, client, recipientsLeft } = await scene()
    await fill.notifications(20, 1)
    await fill.recipients(many, 20)
    await fill.inbox(20, 'reader')
    const notificationIds = Array.from({ length: 19 }, (_, index) => `n${index + 1}`)
    await inShortSteps(async () => {
      const { data } = await client.notifications.delete({ organizationId, notificationIds })
      expect(Object.values(data).filter(({ success }) => success)).toHaveLength(19)
      for (const filter of [{ documentId: 'd1' }, { userId: 'reader' }]) {
        const { data: left } = await client.notifications.get({ organizationId, ...filter })
        expect(left.map(({ id }) => id)).toEqual(['n20'])
      }
      await expect.poll(recipientsLeft).toBe(many / 20 + 1)
    })
    const again = await client.notifications.delete({ organizationId, notificationIds: ['n1'] })
    expect(again.data.n1?.success).toBe(false)
  })

  test('[18.1.2] [S1] [S2] overwriting a notification with many recipients removes them in short steps', async () => {
    const { tenant, fill, client, recipientsLeft } = await scene()
    await fill.notifications(1, 1)
    await fill.recipients(many, 1)
    await inShortSteps(async () => {
      const fields = { organizationId, documentId: 'd1', notificationId: 'n1', displayBodyMessage: 'New.' }
      await given.notification(tenant, { ...fields, notifyUsers: [{ userId: 'u2' }] })
      const { data } = await client.notifications.get({ organizationId, documentId: 'd1' })
      expect(data.map(({ id, displayBodyMessage }) => [id, displayBodyMessage])).toEqual([['n1', 'New.']])
      await expect.poll(recipientsLeft).toBe(1)
    })
    expect((await client.notifications.get({ organizationId, userId: 'u1' })).data).toEqual([])
    expect((await client.notifications.get({ organizationId, userId: 'u2' })).data).toHaveLength(1)
  })

  test('[18.2] [18.4.2] [S1] [S2] get and delete with a filter that matches few notifications run in short steps', async () => {
    const { tenant, fill, client } = await scene()
    await fill.notifications(many, 1)
    await fill.inbox(many, 'reader')
    await given.notification(tenant, {
      organizationId,
      documentId: 'd1',
      locationId: 7,
      notificationId: 'at-7',
    })
    const v1 = (filter: object) =>
      server.post('/v1/notifications/get', { data: { organizationId, ...filter } }, tenant.headers)
    for (const [filter, found] of [
      [{ documentId: 'd1', locationId: 8 }, []],
      [{ documentId: 'd1', locationId: 7, order: 'asc' }, ['at-7']],
      [{ userId: 'reader', documentId: 'other' }, []],
      [{ userId: 'reader', locationId: 7 }, []],
    ] as const) {
      await expectShortIterations(async () => {
        const { data } = await client.notifications.get({ organizationId, ...filter })
        expect(data.map(({ id }) => id)).toEqual(found)
      })
    }
    await expectShortIterations(() => v1({ locationId: 8 }))
    expect((await v1({ locationId: 7 })).body.result.data).toHaveLength(1)
    await inShortSteps(async () => {
      const filter = { organizationId, userId: 'reader', documentId: 'other' }
      expect((await client.notifications.delete(filter)).data).toEqual({})
    })
  })

  test('[18.1.3] [S1] [S2] a notification to very many members is written in short steps and shown once it is complete', async () => {
    const { tenant, fill, client, recipientsLeft } = await scene()
    await fill.members(many)
    await fill.notifications(1, 1)
    await fill.recipients(1000, 1)
    const seen = new Set<string | undefined>()
    let isAdded = false
    await inShortSteps(async () => {
      const fields = { organizationId, documentId: 'd1', notificationId: 'n1', displayBodyMessage: 'New.' }
      const notifyUsers = [{ userId: 'u7' }, { userId: 'guest' }]
      const added = given.notification(tenant, { ...fields, notifyAll: true, notifyUsers }).then((id) => {
        isAdded = true
        return id
      })
      // Until the new notification is complete, readers get the one it overwrites.
      while (!isAdded) {
        const { data } = await client.notifications.get({ organizationId, documentId: 'd1' })
        seen.add(data.map((one) => one.displayBodyMessage ?? 'old').join())
      }
      expect(await added).toBe('n1')
      await expect.poll(recipientsLeft).toBe(many + 1)
    })
    expect([...seen][0]).toBe('old')
    for (const [userId, forYou] of [
      ['u7', true],
      ['guest', true],
      [`u${many}`, false],
    ] as const) {
      const { data } = await client.notifications.get({ organizationId, userId })
      expect(data).toMatchObject([{ id: 'n1', forYou, isUnread: true, displayBodyMessage: 'New.' }])
    }
    expect([...seen].every((shown) => shown === 'old' || shown === 'New.')).toBe(true)
  })

  test('[18.4.2] [S1] [S2] deleting the notifications of one user runs in short steps and names every notification', async () => {
    const { tenant, fill, client, recipientsLeft } = await scene()
    await fill.notifications(many, 1)
    await fill.inbox(many, 'reader')
    await fill.recipients(1000, 1000)
    await given.notification(tenant, {
      organizationId,
      documentId: 'd2',
      notifyUsers: [{ userId: 'reader' }],
    })
    await inShortSteps(async () => {
      const { data } = await client.notifications.delete({
        organizationId,
        userId: 'reader',
        documentId: 'd1',
      })
      expect(Object.values(data).filter(({ success }) => success)).toHaveLength(many)
    })
    expect(await recipientsLeft()).toBe(1001)
    expect((await client.notifications.get({ organizationId, userId: 'reader' })).data).toHaveLength(1)
    const v1 = await server.post('/v1/notifications/get', { data: { organizationId } }, tenant.headers)
    expect(v1.body.result.data).toHaveLength(1001)
  })

  test('[18.3.1] [0.7.6] [S1] [S2] an update of many notifications runs in short steps, and changes none if one is too large', async () => {
    const { tenant, fill, client, recipientsLeft } = await scene()
    await given.users(tenant, ['reader'], { organizationId, documentId: 'd1' })
    await client.documents.updateAccess({ organizationId, documentIds: ['d1'], accessType: 'restricted' })
    await fill.notifications(100, 1)
    await fill.recipients(many, 2)
    await fill.inbox(100, 'reader')
    const update = (change: object, filter = {}) =>
      client.notifications.update({
        organizationId,
        verifyUserPermissions: true,
        notifications: Array.from({ length: 100 }, (_, index) => ({ id: `n${index + 1}`, ...change })),
        ...filter,
      })
    const shown = async () => {
      const { data } = await client.notifications.get({ organizationId, userId: 'reader', pageSize: 1000 })
      return new Set(data.map((one) => `${one.displayBodyMessage} ${one.isUnread}`))
    }
    const tooLarge = { displayBodyMessage: 'New.', actionUser: { userId: 'u', name: 'x'.repeat(17_000) } }
    const notifications = [
      { id: 'n1', displayBodyMessage: 'New.' },
      { id: 'n99', ...tooLarge },
    ]
    await expect(update({}, { notifications })).rejects.toMatchObject({ status: 'INVALID_ARGUMENT' })
    expect(await shown()).toEqual(new Set(['undefined true']))
    expect(await recipientsLeft()).toBe(many + 100)

    // The user of the filter cannot read the document and is dropped before the others are verified.
    await update({}, { userId: 'u10', notifications: [{ id: 'n1' }] })
    expect(await recipientsLeft()).toBe(many / 2 + 100)
    const readByUserIds = ['reader', ...Array.from({ length: 40 }, (_, index) => `u${index}`)]
    await inShortSteps(async () => {
      const { data } = await update({ displayBodyMessage: 'New.', readByUserIds })
      expect(Object.values(data).filter(({ success }) => success)).toHaveLength(100)
    })
    expect(await recipientsLeft()).toBe(100)
    expect(await shown()).toEqual(new Set(['New. false']))
  })

  test('[18.4.2] documents can be opened while a user’s long inbox is deleted, and readers never see a part of the inbox', async () => {
    let openedMeanwhile = 0
    // On a busy processor, the deletion may end before a client has connected.
    for (let round = 0; openedMeanwhile === 0 && round < 5; round++) {
      const { tenant, fill, client } = await scene()
      await fill.notifications(4000, 1)
      await fill.inbox(4000, 'reader')
      const token = await tokenFor(tenant, 'ada', {
        resources: [{ type: 'organization', id: organizationId }],
      })
      let isDeleted = false
      const deleted = client.notifications.delete({ organizationId, userId: 'reader' }).then(({ data }) => {
        isDeleted = true
        return Object.keys(data)
      })
      const begun = read().selectFrom('deletions').select('scope').where('api_key', '=', tenant.apiKey)
      await expect.poll(() => begun.execute(), { interval: 1 }).toHaveLength(1)
      const list = client.notifications.get({ organizationId, userId: 'reader' })
      await synced(yjsClient(server, token, { name: `${organizationId}/d1/note` }))
      if (!isDeleted) openedMeanwhile++
      expect((await list).data).toEqual([])
      expect(await deleted).toHaveLength(4000)
    }
    expect(openedMeanwhile).toBe(1)
  })
})
