import { describe, expect, test } from 'vitest'
import { expectShortIterations } from '../../support/measures/loop-work.ts'
import * as given from '../../support/given.ts'
import { stores, useServer } from '../../support/harness.ts'
import { seed } from '../../support/data/large-data.ts'

const organizationId = 'org_1'

/** Adds the users u1 to u4 and two groups: `g1` with u1 and u2, `g2` with u2 and u3. */
const groups = async (tenant: given.Tenant) => {
  await given.users(tenant, ['u1', 'u2', 'u3', 'u4'])
  await tenant.client.userGroups.add({
    organizationId,
    organizationUserGroups: [
      { groupId: 'g1', groupName: 'One' },
      { groupId: 'g2', groupName: 'Two' },
    ],
  })
  const add = (organizationUserGroupId: string, userIds: string[]) =>
    tenant.client.userGroups.addUsers({ organizationId, organizationUserGroupId, userIds })
  await add('g1', ['u1', 'u2'])
  await add('g2', ['u2', 'u3'])
}
const inSeconds = (seconds: number) => Math.floor(Date.now() / 1000) + seconds

describe.each(stores)('users.get on %s', (store) => {
  const server = useServer(store, { isOwn: true })

  type Query = Omit<Parameters<given.Tenant['client']['users']['get']>[0], 'organizationId'>
  type Users = { userId: string }[]

  const ids = async ({ client }: given.Tenant, query: Query = {}, version: 'v1' | 'v2' = 'v2') =>
    ((await client.users.get({ organizationId, ...query }, { version })).data as Users).map(
      (user) => user.userId,
    )

  /** Follows the page tokens to the end and returns the data of each page. */
  const pagesOf = async ({ client }: given.Tenant, query: Query) => {
    const found: unknown[] = []
    let pageToken: string | undefined
    do {
      const page = await client.users.get({ organizationId, ...query, ...(pageToken && { pageToken }) })
      found.push(page.data)
      pageToken = page.nextPageToken
    } while (pageToken)
    return found
  }

  test('[12.2] get returns the users of an organization with their roles in it', async () => {
    const { client } = await given.tenant(server)
    const user = {
      userId: 'u1',
      name: 'Ada',
      email: 'ada@example.com',
      color: '#123456',
      textColor: '#ffffff',
    }
    await client.users.add({ organizationId, users: [{ ...user, accessRole: 'viewer' }] })
    const read = {
      message: 'User(s) retrieved successfully.',
      data: [{ ...user, initial: 'A', accessRole: 'viewer' }],
    }
    expect(await client.users.get({ organizationId })).toEqual(read)
    expect(await client.users.get({ organizationId }, { version: 'v1' })).toEqual(read)
  })

  test('[12.2] the organization, each document and each folder have separate users and roles', async () => {
    const tenant = await given.tenant(server)
    await given.users(tenant, ['u1'])
    await tenant.client.users.add({
      organizationId,
      documentId: 'd1',
      createDocument: true,
      users: [{ userId: 'u1', accessRole: 'viewer' }, { userId: 'u2' }],
    })
    await given.users(tenant, ['u3'], { folderId: 'f1' })
    expect((await tenant.client.users.get({ organizationId })).data).toMatchObject([
      { userId: 'u1', accessRole: 'editor' },
    ])
    expect((await tenant.client.users.get({ organizationId, documentId: 'd1' })).data).toMatchObject([
      { userId: 'u1', accessRole: 'viewer' },
      { userId: 'u2', accessRole: 'editor' },
    ])
    expect(await ids(tenant, { folderId: 'f1' })).toEqual(['u3'])
    expect(await ids(tenant, { documentId: 'd1' }, 'v1')).toEqual(['u1', 'u2'])
  })

  test('[12.2] [0.1.4] v1 get ignores the fields that exist only in v2', async () => {
    const tenant = await given.tenant(server)
    await given.users(tenant, ['u1', 'u2'])
    await given.users(tenant, ['u3'], { folderId: 'f1' })
    const query = { folderId: 'f1', allDocuments: true, groupByDocumentId: true, pageSize: 1, pageToken: 'x' }
    const { data, nextPageToken } = await tenant.client.users.get(
      { organizationId, ...query },
      { version: 'v1' },
    )
    expect([data, nextPageToken]).toMatchObject([[{ userId: 'u1' }, { userId: 'u2' }], undefined])
  })

  test('[12.2] get returns no users for an unknown organization, document or folder', async () => {
    const tenant = await given.tenant(server)
    expect(await ids(tenant)).toEqual([])
    await given.users(tenant, ['u1'])
    expect(await ids(tenant, { documentId: 'd9' })).toEqual([])
    expect(await ids(tenant, { folderId: 'f9' })).toEqual([])
  })

  test('[12.2] userIds filters the list, and unknown ids are left out', async () => {
    const tenant = await given.tenant(server)
    await given.users(tenant, ['u1', 'u2', 'u3'])
    expect(await ids(tenant, { userIds: ['u3', 'u1', 'u9', 'u1'] })).toEqual(['u1', 'u3'])
    expect(await ids(tenant, { userIds: [] })).toEqual([])
  })

  test('[12.2] get returns only users that match both the group ids and the user ids', async () => {
    const tenant = await given.tenant(server)
    await groups(tenant)
    await given.users(tenant, ['u3', 'u4'], { documentId: 'd1' })
    const organizationUserGroupIds = ['g1', 'g2', 'g9']
    expect(await ids(tenant, { organizationUserGroupIds: ['g1'] })).toEqual(['u1', 'u2'])
    expect(await ids(tenant, { organizationUserGroupIds })).toEqual(['u1', 'u2', 'u3'])
    expect(await ids(tenant, { organizationUserGroupIds, userIds: ['u2', 'u4'] })).toEqual(['u2'])
    expect(await ids(tenant, { organizationUserGroupIds, documentId: 'd1' })).toEqual(['u3'])
    expect(await ids(tenant, { organizationUserGroupIds: ['g2'], userIds: ['u2', 'u4'] }, 'v1')).toEqual([
      'u2',
    ])
    expect(await ids(tenant, { organizationUserGroupIds: [] })).toEqual([])
  })

  test('[12.2] a group of another organization matches no users', async () => {
    const tenant = await given.tenant(server)
    await groups(tenant)
    await given.users(tenant, ['u1'], { organizationId: 'org_2' })
    const { data } = await tenant.client.users.get({
      organizationId: 'org_2',
      organizationUserGroupIds: ['g1'],
    })
    expect(data).toEqual([])
  })

  test('[12.2.1] allDocuments returns each user of any document once, and no users who belong only to the organization', async () => {
    const tenant = await given.tenant(server)
    await groups(tenant)
    await given.users(tenant, ['u3', 'u2'], { documentId: 'd1' })
    await given.users(tenant, ['u2', 'u5'], { documentId: 'd2' })
    await given.users(tenant, ['u6'], { folderId: 'f1' })
    await given.users(tenant, ['u7'], { organizationId: 'org_2', documentId: 'd1' })
    const { data } = await tenant.client.users.get({ organizationId, allDocuments: true })
    expect((data as Users).map((user) => user.userId).sort()).toEqual(['u2', 'u3', 'u5'])
    expect((data as Users)[0]).not.toHaveProperty('accessRole')
    expect(await ids(tenant, { allDocuments: true, organizationUserGroupIds: ['g1'] })).toEqual(['u2'])
    expect(await ids(tenant, { allDocuments: true, userIds: ['u5', 'u1'] })).toEqual(['u5'])
  })

  test('[12.2.1] groupByDocumentId lists the users of each document with their roles in it', async () => {
    const tenant = await given.tenant(server)
    await given.users(tenant, ['u1', 'u2'], { documentId: 'd1' })
    await given.users(tenant, ['u2'], { documentId: 'd2' })
    await tenant.client.users.update({
      organizationId,
      documentId: 'd2',
      users: [{ userId: 'u2', accessRole: 'viewer' }],
    })
    expect(
      await tenant.client.users.get({ organizationId, allDocuments: true, groupByDocumentId: true }),
    ).toMatchObject({
      message: 'User(s) retrieved successfully.',
      data: {
        d1: [
          { userId: 'u1', accessRole: 'editor' },
          { userId: 'u2', accessRole: 'editor' },
        ],
        d2: [{ userId: 'u2', accessRole: 'viewer' }],
      },
    })
    const none = await tenant.client.users.get({
      organizationId: 'org_9',
      allDocuments: true,
      groupByDocumentId: true,
    })
    expect(none.data).toEqual({})
  })

  test('[12.2] pages are ordered by joining time, then id, and contain every user once', async () => {
    const tenant = await given.tenant(server)
    const late = Array.from({ length: 7 }, (_, index) => `a${index}`)
    const early = Array.from({ length: 6 }, (_, index) => `b${index}`)
    await given.users(tenant, early.toReversed())
    server.clock.offsetMs = 1000
    await given.users(tenant, late).finally(() => (server.clock.offsetMs = 0))
    const found = (await pagesOf(tenant, { pageSize: 5 })) as Users[]
    expect(found.map((page) => page.map((user) => user.userId))).toEqual([
      ['b0', 'b1', 'b2', 'b3', 'b4'],
      ['b5', 'a0', 'a1', 'a2', 'a3'],
      ['a4', 'a5', 'a6'],
    ])
  })

  test('[12.2.1] pages of the users of all documents contain every user once, or once per document if grouped', async () => {
    const tenant = await given.tenant(server)
    for (const [documentId, userIds] of [
      ['d2', ['u1', 'u2', 'u3']],
      ['d1', ['u3', 'u4']],
    ] as const) {
      await given.users(tenant, userIds, { documentId })
    }
    const plain = (await pagesOf(tenant, { allDocuments: true, pageSize: 3 })) as Users[]
    expect(plain.map((page) => page.length)).toEqual([3, 1])
    expect(new Set(plain.flat().map((user) => user.userId))).toEqual(new Set(['u1', 'u2', 'u3', 'u4']))
    const grouped = await pagesOf(tenant, { allDocuments: true, groupByDocumentId: true, pageSize: 3 })
    expect(grouped).toMatchObject([
      { d1: [{ userId: 'u3' }, { userId: 'u4' }], d2: [{ userId: 'u1' }] },
      { d2: [{ userId: 'u2' }, { userId: 'u3' }] },
    ])
  })

  test('[12.2] pages of a filtered list contain every matching user once, or once per document if grouped', async () => {
    const tenant = await given.tenant(server)
    await groups(tenant)
    for (const documentId of ['d2', 'd1']) await given.users(tenant, ['u1', 'u2', 'u3'], { documentId })
    const filter = { organizationUserGroupIds: ['g1', 'g2'], userIds: ['u3', 'u2'], pageSize: 1 }
    expect(await pagesOf(tenant, filter)).toMatchObject([[{ userId: 'u2' }], [{ userId: 'u3' }]])
    const all = { ...filter, allDocuments: true }
    expect(await pagesOf(tenant, all)).toMatchObject([[{ userId: 'u2' }], [{ userId: 'u3' }]])
    expect(await pagesOf(tenant, { ...all, groupByDocumentId: true })).toMatchObject([
      { d1: [{ userId: 'u2' }] },
      { d1: [{ userId: 'u3' }] },
      { d2: [{ userId: 'u2' }] },
      { d2: [{ userId: 'u3' }] },
    ])
  })

  test('[12.2.1] [S2] allDocuments reads the users of very many grants in short steps, ordered by id', async () => {
    const tenant = await given.tenant(server)
    await given.organization(tenant, organizationId)
    const fill = seed(server.database, tenant.apiKey, organizationId)
    await fill.documentGrants(6000, 1500)
    const groups = { organizationId, organizationUserGroups: [{ groupId: 'g', groupName: 'G' }] }
    await tenant.client.userGroups.add(groups)
    await fill.groupMembers(1600, 'g')
    const all = Array.from({ length: 1500 }, (_, index) => `u${index + 1}`).toSorted()
    for (const filter of [{}, { organizationUserGroupIds: ['g'] }]) {
      const query = { allDocuments: true, pageSize: 1000, ...filter }
      let pages: unknown[] = []
      await expectShortIterations(async () => (pages = await pagesOf(tenant, query)))
      expect((pages as Users[]).flat().map(({ userId }) => userId)).toEqual(all)
    }
  })

  test('[12.2.1] [S2] groupByDocumentId reads the documents of users with very many grants in short steps', async () => {
    const tenant = await given.tenant(server)
    await given.organization(tenant, organizationId)
    const fill = seed(server.database, tenant.apiKey, organizationId)
    await fill.documentGrants(6000, 1)
    const groups = { organizationId, organizationUserGroups: [{ groupId: 'g', groupName: 'G' }] }
    await tenant.client.userGroups.add(groups)
    await fill.groupMembers(40, 'g')
    const documentIds = Array.from({ length: 6000 }, (_, index) => `d${index + 1}`).toSorted()
    for (const filter of [{ userIds: ['u1', 'u2'] }, { organizationUserGroupIds: ['g'] }]) {
      const query = { organizationId, allDocuments: true, groupByDocumentId: true, pageSize: 1000, ...filter }
      let data: object = {}
      await expectShortIterations(async () => ({ data } = await tenant.client.users.get(query)))
      expect(Object.keys(data)).toEqual(documentIds.slice(0, 1000))
    }
  })

  test('[12.2] [S2] get reads the users of a large group in short steps', async () => {
    const tenant = await given.tenant(server)
    await given.organization(tenant, organizationId)
    const fill = seed(server.database, tenant.apiKey, organizationId)
    await fill.members(4000)
    const groups = { organizationId, organizationUserGroups: [{ groupId: 'g', groupName: 'G' }] }
    await tenant.client.userGroups.add(groups)
    await fill.groupMembers(4000, 'g')
    const query = { organizationId, organizationUserGroupIds: ['g'], pageSize: 1000 }
    let data: object = []
    await expectShortIterations(async () => ({ data } = await tenant.client.users.get(query)))
    expect(data).toHaveLength(1000)
  })

  test('[12.2.1] pages grouped by document contain every user of every document once, also users of many documents', async () => {
    const tenant = await given.tenant(server)
    await given.organization(tenant, organizationId)
    const fill = seed(server.database, tenant.apiKey, organizationId)
    await fill.documentGrants(300, 1, 'a')
    await fill.documentGrants(150, 1, 'b')
    await fill.documentGrants(5, 1, 'c')
    const query = { allDocuments: true, groupByDocumentId: true, pageSize: 70, userIds: ['c1', 'b1', 'a1'] }
    const pages = (await pagesOf(tenant, query)) as Record<string, Users>[]
    const numbers = Array.from({ length: 300 }, (_, index) => index + 1)
    const expected = numbers.map((number) => `d${number}`).toSorted()
    const usersOf = (documentId: string) => {
      const number = Number(documentId.slice(1))
      return ['a1', ...(number <= 150 ? ['b1'] : []), ...(number <= 5 ? ['c1'] : [])]
    }
    const found = pages.flatMap((page) =>
      Object.entries(page).flatMap(([id, users]) => users.map(({ userId }) => `${id} ${userId}`)),
    )
    expect(found).toEqual(expected.flatMap((id) => usersOf(id).map((userId) => `${id} ${userId}`)))
    expect(pages).toHaveLength(Math.ceil(455 / 70))
  })

  test('[0.5] a page token is valid only for the same filters and the same API key', async () => {
    const [tenant, other] = [await given.tenant(server), await given.tenant(server)]
    for (const one of [tenant, other]) await given.users(one, ['u1', 'u2', 'u3'])
    const { nextPageToken: pageToken } = await tenant.client.users.get({ organizationId, pageSize: 1 })
    const refused = { status: 'INVALID_ARGUMENT', message: 'Invalid page token.' }
    const foreign: [given.Tenant, Query][] = [
      [tenant, { pageToken: 'nonsense' }],
      [tenant, { pageToken, userIds: ['u1'] }],
      [other, { pageToken }],
    ]
    for (const [caller, query] of foreign) {
      await expect(caller.client.users.get({ organizationId, ...query })).rejects.toMatchObject(refused)
    }
    expect(await ids(tenant, { pageToken })).toEqual(['u2', 'u3'])
  })

  test('[25.8] no list contains a user whose grant has expired', async () => {
    const tenant = await given.tenant(server)
    await given.users(tenant, ['u1'], { documentId: 'd1' })
    const grant = (userId: string, expiresAt: number) =>
      tenant.client.permissions.add({
        user: { userId },
        permissions: {
          resources: [
            { type: 'organization', id: organizationId, expiresAt },
            { type: 'document', id: 'd1', organizationId, expiresAt },
          ],
        },
      })
    await grant('past', inSeconds(-10))
    await grant('future', inSeconds(1000))
    expect(await ids(tenant)).toEqual(['future'])
    expect(await ids(tenant, { documentId: 'd1' })).toEqual(['u1', 'future'])
    expect((await ids(tenant, { allDocuments: true })).toSorted()).toEqual(['future', 'u1'])
  })

  test.each([
    [{ documentId: 'd1', folderId: 'f1' }, 'Provide either documentId or folderId.'],
    [{ groupByDocumentId: true }, 'groupByDocumentId requires allDocuments.'],
    [
      { allDocuments: true, documentId: 'd1' },
      'allDocuments cannot be combined with documentId or folderId.',
    ],
    [{ allDocuments: true, folderId: 'f1' }, 'allDocuments cannot be combined with documentId or folderId.'],
    [{ organizationId: '' }, 'organizationId is required.'],
    [{ pageSize: 0 }, 'pageSize must be an integer between 1 and 1000.'],
    [{ pageSize: 1001 }, 'pageSize must be an integer between 1 and 1000.'],
    [{ userIds: Array.from({ length: 31 }, (_, n) => `u${n}`) }, 'userIds must have at most 30 items.'],
    [
      { organizationUserGroupIds: Array.from({ length: 31 }, (_, n) => `g${n}`) },
      'organizationUserGroupIds must have at most 30 items.',
    ],
    [{ allDocuments: 'yes' }, 'allDocuments must be a boolean.'],
  ])('[12.2] [0.3] get refuses %j', async (query, message) => {
    const { headers } = await given.tenant(server)
    expect(await server.post('/v2/users/get', { data: { organizationId, ...query } }, headers)).toMatchObject(
      {
        status: 400,
        body: { error: { status: 'INVALID_ARGUMENT', message } },
      },
    )
  })

  test('[0.9] get requires advanced queries to be enabled', async () => {
    const { client } = await given.tenant(server)
    await client.apiKeyConfig.update({ useAdvancedQueries: false })
    await expect(client.users.get({ organizationId })).rejects.toMatchObject({
      status: 'FAILED_PRECONDITION',
      message:
        'Advanced queries are not enabled for this API key. Set useAdvancedQueries to true with /v2/workspace/apikeyconfig/update.',
    })
  })
})
