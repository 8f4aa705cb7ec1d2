import { describe, expect, test } from 'vitest'
import * as given from '../../support/given.ts'
import { stores, useServer } from '../../support/harness.ts'

describe.each(stores)('organizations on %s', (store) => {
  const server = useServer(store)
  const id = expect.stringMatching(/^[0-9a-f]{32}$/)

  test('[4.9] get returns the id, the name and the disabled state of each organization', async () => {
    const { client } = await given.tenant(server)
    await client.organizations.add({ organizations: [{ organizationId: 'o1', organizationName: 'Acme' }] })
    expect(await client.organizations.get({ organizationIds: ['o1'] })).toEqual({
      message: 'Organization(s) retrieved successfully.',
      data: [
        {
          id: 'o1',
          organizationName: 'Acme',
          disabled: false,
          createdAt: expect.any(Number),
          lastUpdated: expect.any(Number),
        },
      ],
    })
  })

  test('[4.9] [8.2] an organization without a name has its id as its name in every read', async () => {
    const { client, headers } = await given.tenant(server)
    await client.organizations.add({
      organizations: [{ organizationId: 'o1' }, { organizationId: 'o2', organizationName: 'Acme' }],
    })
    const named = async () => {
      const { body } = await server.post('/v1/organizations/get', { data: {} }, headers)
      const all = (await client.organizations.get()).data
      const some = (await client.organizations.get({ organizationIds: ['o1', 'o2'] })).data
      expect([body.result.data, some]).toEqual([all, all])
      return Object.fromEntries(all.map(({ id, organizationName }) => [id, organizationName]))
    }
    expect(await named()).toEqual({ o1: 'o1', o2: 'Acme' })
    await client.organizations.update({
      organizations: [
        { organizationId: 'o1', organizationName: 'One' },
        { organizationId: 'o2', organizationName: '' },
      ],
    })
    expect(await named()).toEqual({ o1: 'One', o2: '' })
  })

  test('[4.9] get returns every organization once when a caller follows nextPageToken', async () => {
    const { client } = await given.tenant(server)
    const ids = Array.from({ length: 25 }, (_, index) => `org ${index}`)
    await client.organizations.add({ organizations: ids.map((organizationId) => ({ organizationId })) })
    const seen: string[] = []
    let pageToken: string | undefined
    do {
      const page = await client.organizations.get({ pageSize: 10, ...(pageToken && { pageToken }) })
      seen.push(...page.data.map((one) => one.id))
      pageToken = page.nextPageToken
    } while (pageToken)
    expect(seen.length).toBe(25)
    expect(new Set(seen)).toEqual(new Set(ids))
  })

  test('[4.12] delete returns a result for each id and success for the call', async () => {
    const { client } = await given.tenant(server)
    await client.organizations.add({ organizations: [{ organizationId: 'o1' }] })
    expect(await client.organizations.delete({ organizationIds: ['o1', 'o2', 'o1'] })).toEqual({
      message: 'Organization(s) deleted successfully.',
      data: {
        o1: { success: true, id, message: 'Deleted Successfully' },
        o2: { success: false, id, message: 'Organization does not exist' },
      },
    })
    expect((await client.organizations.get()).data).toEqual([])
  })

  test('[4.13] [8.3] update changes the fields of the request, removes those sent as null and keeps the others', async () => {
    const { client } = await given.tenant(server)
    await client.organizations.add({
      organizations: [{ organizationId: 'o1', organizationName: 'A', plan: 'x', tier: 1 }],
    })
    expect(
      await client.organizations.update({
        organizations: [{ organizationId: 'o1', organizationName: 'B', tier: null }],
      }),
    ).toEqual({
      message: 'Organization(s) updated successfully.',
      data: { o1: { success: true, id, message: 'Updated Successfully' } },
    })
    const { data } = await client.organizations.get({ organizationIds: ['o1'] })
    expect(data[0]).toMatchObject({ organizationName: 'B', plan: 'x' })
    expect(data[0]).not.toHaveProperty('tier')
  })

  test('[4.13] update reports a missing organization and updates the others', async () => {
    const { client } = await given.tenant(server)
    await given.organization({ client } as given.Tenant, 'o1')
    const { data } = await client.organizations.update({
      organizations: [
        { organizationId: 'o1', organizationName: 'first' },
        { organizationId: 'o2', organizationName: 'x' },
        { organizationId: 'o1', organizationName: 'second' },
      ],
    })
    expect(data).toEqual({
      o1: { success: true, id, message: 'Updated Successfully' },
      o2: { success: false, id, message: 'Organization does not exist' },
    })
    const found = await client.organizations.get({})
    expect(found.data.map((one) => [one.id, one.organizationName])).toEqual([['o1', 'first']])
  })

  test('[8.3] update changes neither the disabled state nor the id, and the server sets the times', async () => {
    const { client } = await given.tenant(server)
    await client.organizations.add({ organizations: [{ organizationId: 'o1' }] })
    const [before] = (await client.organizations.get()).data
    await client.organizations.update({
      organizations: [{ organizationId: 'o1', disabled: true, id: 'o9', createdAt: 1, lastUpdated: 1 }],
    })
    const [after] = (await client.organizations.get()).data
    expect(after).toEqual({ ...before, lastUpdated: expect.any(Number) })
    expect(after?.lastUpdated).toBeGreaterThanOrEqual(before?.lastUpdated ?? 0)
  })

  test('[8.1] add stores custom keys and leaves an existing organization unchanged', async () => {
    const { client } = await given.tenant(server)
    const organizations = [{ organizationId: 'o1', organizationName: 'A', plan: { seats: 3 }, nothing: null }]
    expect(await client.organizations.add({ organizations })).toEqual({
      message: 'Organization(s) added successfully.',
      data: { o1: { success: true, id, message: 'Added Successfully' } },
    })
    const again = await client.organizations.add({
      organizations: [{ organizationId: 'o1', organizationName: 'B' }],
    })
    expect(again.data).toEqual({ o1: { success: false, id, message: 'Organization already exists' } })
    const times = { createdAt: expect.any(Number), lastUpdated: expect.any(Number) }
    expect((await client.organizations.get()).data).toEqual([
      { id: 'o1', organizationName: 'A', plan: { seats: 3 }, disabled: false, ...times },
    ])
  })

  test('[8.5] updateDisableState disables and enables organizations, and creates those that do not exist', async () => {
    const { client } = await given.tenant(server)
    await given.organization({ client } as given.Tenant, 'o1')
    expect(
      await client.organizations.updateDisableState({ organizationIds: ['o1', 'o2'], disabled: true }),
    ).toEqual({
      message: 'Updated disable state for Organization(s) successfully.',
      data: {
        o1: { success: true, id, message: 'Updated disable state for organization Successfully' },
        o2: { success: true, id, message: 'Updated disable state for organization Successfully' },
      },
    })
    const states = async () =>
      (await client.organizations.get()).data.map((one) => [one.id, one.disabled]).sort()
    expect(await states()).toEqual([
      ['o1', true],
      ['o2', true],
    ])
    await client.organizations.updateDisableState({ organizationIds: ['o1'], disabled: false })
    expect(await states()).toEqual([
      ['o1', false],
      ['o2', true],
    ])
  })

  test('[0.6.2] the id in a result is stable and differs between API keys', async () => {
    const one = await given.tenant(server)
    const other = await given.tenant(server)
    const idFrom = async ({ client }: given.Tenant) =>
      (await client.organizations.delete({ organizationIds: ['o1'] })).data.o1?.id
    const first = await idFrom(one)
    expect(await idFrom(one)).toBe(first)
    expect(await idFrom(other)).not.toBe(first)
  })

  test('[8.4] delete removes everything inside the organization, and users without another organization', async () => {
    const { client, apiKey } = await given.tenant(server)
    const inside = { organizationId: 'o1', documentId: 'd1' }
    await client.documents.add({
      organizationId: 'o1',
      createOrganization: true,
      folderId: 'f1',
      createFolder: true,
      documents: [{ documentId: 'd1' }],
    })
    await client.users.add({ organizationId: 'o1', users: [{ userId: 'only here' }, { userId: 'both' }] })
    await client.users.add({ organizationId: 'o2', users: [{ userId: 'both' }] })
    await client.crdt.add({ ...inside, editorId: 'e1', type: 'text', data: 'Hello' })
    await client.presence.add({ ...inside, users: [{ userId: 'both' }] })
    await client.liveState.broadcast({ ...inside, liveStateDataId: 'l1', data: { a: 1 } })
    await client.userGroups.add({
      organizationId: 'o1',
      organizationUserGroups: [{ groupId: 'g', groupName: 'G' }],
    })
    await client.notifications.setConfig({
      organizationId: 'o1',
      userIds: ['both'],
      config: { inbox: 'NONE' },
    })

    await client.organizations.delete({ organizationIds: ['o1'] })

    const left = async (
      table: 'folders' | 'documents' | 'grants' | 'editors' | 'notification_configs' | 'user_groups',
    ) =>
      (
        await server.database.read
          .selectFrom(table)
          .select('organization_id')
          .where('api_key', '=', apiKey)
          .where('organization_id', '=', 'o1')
          .execute()
      ).length
    for (const table of [
      'folders',
      'documents',
      'grants',
      'editors',
      'notification_configs',
      'user_groups',
    ] as const) {
      expect([table, await left(table)]).toEqual([table, 0])
    }
    const users = await server.database.read
      .selectFrom('users')
      .select('user_id')
      .where('api_key', '=', apiKey)
      .execute()
    expect(users.map((user) => user.user_id)).toEqual(['both'])
    // A new organization with the same id has none of the old data.
    await given.organization({ client } as given.Tenant, 'o1')
    expect((await client.crdt.get(inside)).data).toEqual([])
  })

  test('[4.9] [0.5] [0.7.5] get refuses more than 30 ids, a pageSize outside 1 to 1000, and page tokens that it did not issue to this API key', async () => {
    const { client } = await given.tenant(server)
    const other = await given.tenant(server)
    for (const { client: each } of [{ client }, other]) {
      await each.organizations.add({ organizations: [{ organizationId: 'a' }, { organizationId: 'b' }] })
    }
    const outcomeOf = (input: object) =>
      client.organizations.get(input).then(
        () => 'accepted',
        (error) => `${error}`,
      )
    const ids = Array.from({ length: 31 }, (_, index) => `o${index}`)
    expect(await outcomeOf({ organizationIds: ids })).toBe(
      'ApiError: organizationIds must have at most 30 items.',
    )
    for (const pageSize of [0, 1001]) {
      expect(await outcomeOf({ pageSize })).toBe('ApiError: pageSize must be an integer between 1 and 1000.')
    }
    const { nextPageToken = '' } = await other.client.organizations.get({ pageSize: 1 })
    expect(nextPageToken).not.toBe('')
    const tampered = `${nextPageToken.slice(0, -2)}AA`
    for (const pageToken of [nextPageToken, tampered, 'x', '%', 'A'.repeat(4096)]) {
      expect(await outcomeOf({ pageSize: 1, pageToken })).toBe('ApiError: Invalid page token.')
    }
  })

  test('[8.2] [0.5.1] v1 get returns everything at once and ignores pages', async () => {
    const { client } = await given.tenant(server)
    await client.organizations.add({ organizations: [{ organizationId: 'a' }, { organizationId: 'b' }] })
    const all = await client.organizations.get({ pageSize: 1 }, { version: 'v1' })
    expect(all.data.map((one) => one.id)).toEqual(['a', 'b'])
    expect(all.nextPageToken).toBeUndefined()
  })

  test('[4.9] get also pages through organizations requested by id', async () => {
    const { client } = await given.tenant(server)
    const ids = ['a', 'b', 'c', 'd', 'e']
    await client.organizations.add({ organizations: ids.map((organizationId) => ({ organizationId })) })
    const seen: string[][] = []
    let pageToken: string | undefined
    do {
      const input = { organizationIds: ['e', 'a', 'c', 'x'], pageSize: 2, ...(pageToken && { pageToken }) }
      const found = await client.organizations.get(input)
      seen.push(found.data.map((one) => one.id))
      pageToken = found.nextPageToken
    } while (pageToken)
    expect(seen).toEqual([['a', 'c'], ['e']])
  })

  test('[0.4] concurrent batches that touch the same rows in opposite order all succeed', async () => {
    const { client } = await given.tenant(server)
    const ids = Array.from({ length: 20 }, (_, index) => `o${index}`)
    await client.organizations.add({ organizations: ids.map((organizationId) => ({ organizationId })) })
    const update = (order: string[], round: number) =>
      client.organizations.update({
        organizations: order.map((organizationId) => ({ organizationId, round })),
      })
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, round) => update(round % 2 ? ids : ids.toReversed(), round)),
    )
    for (const { data } of answers) expect(Object.values(data).every(({ success }) => success)).toBe(true)
    const rounds = new Set((await client.organizations.get()).data.map((one) => one.round))
    expect(rounds.size).toBe(1)
  })
})
