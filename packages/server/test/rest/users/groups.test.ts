import { describe, expect, test } from 'vitest'
import * as given from '../../support/given.ts'
import { stores, useServer } from '../../support/harness.ts'

const organizationId = 'org_1'
const group = { organizationId, organizationUserGroupId: 'g1' }

const outcome = (success: boolean, message: string) => ({ success, organizationUserGroupId: 'g1', message })
const refused = (message: string) => ({ status: 'INVALID_ARGUMENT', message })
const members = async ({ client }: given.Tenant, groupId = 'g1') => {
  const { data } = await client.users.get({ organizationId, organizationUserGroupIds: [groupId] })
  return (data as { userId: string }[]).map((user) => user.userId)
}

describe.each(stores)('user groups on %s', (store) => {
  const server = useServer(store)
  const groupAdded = {
    success: true,
    id: expect.stringMatching(/^[0-9a-f]{32}$/),
    message: 'Organization user group added.',
  }
  const added = outcome(true, 'User added to organization user group.')
  const deleted = outcome(true, 'User deleted from organization user group.')
  const unknown = outcome(false, 'User does not exist.')
  const noGroup = refused('Organization user group does not exist.')

  /** Creates an organization with users u1 to u3 and an empty group g1. */
  const scene = async () => {
    const tenant = await given.tenant(server)
    await given.users(tenant, ['u1', 'u2', 'u3'])
    await tenant.client.userGroups.add({
      organizationId,
      organizationUserGroups: [{ groupId: 'g1', groupName: 'One' }],
    })
    return tenant
  }

  test('[13.1] add returns a result for each group, and renames an existing group without changing its members', async () => {
    const tenant = await scene()
    await tenant.client.userGroups.addUsers({ ...group, userIds: ['u1'] })
    const organizationUserGroups = [
      { groupId: 'g1', groupName: 'Renamed' },
      { groupId: 'g2', groupName: 'Two' },
      { groupId: 'g1', groupName: 'Ignored' },
    ]
    expect(await tenant.client.userGroups.add({ organizationId, organizationUserGroups })).toEqual({
      message: 'Organization User Groups added successfully.',
      data: { g1: groupAdded, g2: groupAdded },
    })
    expect(await members(tenant)).toEqual(['u1'])
    expect(await members(tenant, 'g2')).toEqual([])
    // No operation returns the name of a group.
    const groups = server.database.read.selectFrom('user_groups').select('group_name').orderBy('group_id')
    const named = await groups.where('api_key', '=', tenant.apiKey).execute()
    expect(named).toEqual([{ group_name: 'Renamed' }, { group_name: 'Two' }])
  })

  test('[13.1] [0.8] add refuses an unknown organization unless createOrganization is set, which v1 ignores', async () => {
    const { client } = await given.tenant(server)
    const call = { organizationId, organizationUserGroups: [{ groupId: 'g1', groupName: 'One' }] }
    const unknownOrganization = refused('Organization does not exist.')
    await expect(client.userGroups.add(call)).rejects.toMatchObject(unknownOrganization)
    await expect(
      client.userGroups.add({ ...call, createOrganization: true }, { version: 'v1' }),
    ).rejects.toMatchObject(unknownOrganization)
    expect((await client.organizations.get()).data).toEqual([])
    expect((await client.userGroups.add({ ...call, createOrganization: true })).data).toEqual({
      g1: groupAdded,
    })
    expect((await client.organizations.get()).data).toMatchObject([{ id: organizationId }])
  })

  test('[13.2] adding members accepts users of the organization, also a second time, and reports other users as missing', async () => {
    const tenant = await scene()
    await given.users(tenant, ['u9'], { documentId: 'd1' })
    expect(await tenant.client.userGroups.addUsers({ ...group, userIds: ['u1', 'u9', 'u8', 'u1'] })).toEqual({
      message: 'Added organization users to group successfully.',
      data: { u1: added, u9: unknown, u8: unknown },
    })
    const again = await tenant.client.userGroups.addUsers(
      { ...group, userIds: ['u1', 'u2'] },
      { version: 'v1' },
    )
    expect(again.data).toEqual({ u1: added, u2: added })
    expect(await members(tenant)).toEqual(['u1', 'u2'])
  })

  test('[13.3] removing members accepts members of the group and reports other users as missing', async () => {
    const tenant = await scene()
    await tenant.client.userGroups.addUsers({ ...group, userIds: ['u1', 'u2'] })
    expect(
      await tenant.client.userGroups.deleteUsers({ ...group, userIds: ['u1', 'u3', 'u1'], deleteAll: false }),
    ).toEqual({
      message: 'Deleted users from group successfully.',
      data: { u1: deleted, u3: unknown },
    })
    expect(await members(tenant)).toEqual(['u2'])
  })

  test('[13.3] deleteAll empties the group and keeps the users in the organization and in other groups', async () => {
    const tenant = await scene()
    await tenant.client.userGroups.add({
      organizationId,
      organizationUserGroups: [{ groupId: 'g2', groupName: 'Two' }],
    })
    for (const organizationUserGroupId of ['g1', 'g2']) {
      await tenant.client.userGroups.addUsers({
        organizationId,
        organizationUserGroupId,
        userIds: ['u1', 'u2'],
      })
    }
    const all = { ...group, deleteAll: true }
    expect((await tenant.client.userGroups.deleteUsers(all)).data).toEqual({ u1: deleted, u2: deleted })
    expect((await tenant.client.userGroups.deleteUsers(all, { version: 'v1' })).data).toEqual({})
    expect(await members(tenant)).toEqual([])
    expect(await members(tenant, 'g2')).toEqual(['u1', 'u2'])
    expect((await tenant.client.users.get({ organizationId })).data).toHaveLength(3)
  })

  test('[13.3] removing members requires exactly one of userIds and deleteAll', async () => {
    const tenant = await scene()
    await tenant.client.userGroups.addUsers({ ...group, userIds: ['u1'] })
    for (const call of [{}, { deleteAll: false }, { deleteAll: true, userIds: ['u1'] }]) {
      await expect(tenant.client.userGroups.deleteUsers({ ...group, ...call })).rejects.toMatchObject(
        refused('Provide either userIds or deleteAll.'),
      )
    }
    expect(await members(tenant)).toEqual(['u1'])
  })

  test('[13.2] [13.3] adding and removing members refuse an unknown group, also one of another organization or API key', async () => {
    const tenant = await scene()
    const other = await given.tenant(server)
    await given.users(other, ['u1'])
    await given.users(tenant, ['u1'], { organizationId: 'org_2' })
    for (const [{ client }, where] of [
      [tenant, { organizationId, organizationUserGroupId: 'g9' }],
      [tenant, { organizationId: 'org_2', organizationUserGroupId: 'g1' }],
      [tenant, { organizationId: 'org_9', organizationUserGroupId: 'g1' }],
      [other, group],
    ] as const) {
      const call = { ...where, userIds: ['u1'] }
      await expect(client.userGroups.addUsers(call)).rejects.toMatchObject(noGroup)
      await expect(client.userGroups.deleteUsers(call)).rejects.toMatchObject(noGroup)
    }
  })

  test('[8.4] deleting the organization deletes its groups', async () => {
    const tenant = await scene()
    await tenant.client.userGroups.addUsers({ ...group, userIds: ['u1'] })
    await tenant.client.organizations.delete({ organizationIds: [organizationId] })
    await given.users(tenant, ['u1'])
    expect(await members(tenant)).toEqual([])
    await expect(tenant.client.userGroups.addUsers({ ...group, userIds: ['u1'] })).rejects.toMatchObject(
      noGroup,
    )
  })

  const many = Array.from({ length: 501 }, (_, index) => `u${index}`)
  test.each([
    ['add', { organizationUserGroups: [] }, 'organizationUserGroups must not be empty.'],
    ['add', {}, 'organizationUserGroups is required.'],
    [
      'add',
      { organizationUserGroups: [{ groupName: 'One' }] },
      'organizationUserGroups[0].groupId is required.',
    ],
    [
      'add',
      { organizationUserGroups: [{ groupId: 'g2' }] },
      'organizationUserGroups[0].groupName is required.',
    ],
    [
      'add',
      { organizationUserGroups: [{ groupId: 'g2', groupName: ' ' }] },
      'organizationUserGroups[0].groupName is required.',
    ],
    [
      'add',
      { organizationUserGroups: many.map((groupId) => ({ groupId, groupName: groupId })) },
      'organizationUserGroups must have at most 500 items.',
    ],
    ['users/add', { userIds: ['u1'] }, 'organizationUserGroupId is required.'],
    ['users/add', { organizationUserGroupId: 'g1' }, 'userIds is required.'],
    ['users/add', { organizationUserGroupId: 'g1', userIds: many }, 'userIds must have at most 500 items.'],
    ['users/delete', { organizationUserGroupId: 'g1', userIds: [] }, 'userIds must not be empty.'],
    ['users/delete', { organizationUserGroupId: 'g1', deleteAll: 'yes' }, 'deleteAll must be a boolean.'],
  ])('[0.3] usergroups/%s refuses an invalid body (%#)', async (path, data, message) => {
    const { headers } = await scene()
    const body = { data: { organizationId, ...data } }
    expect(await server.post(`/v2/organizations/usergroups/${path}`, body, headers)).toMatchObject({
      status: 400,
      body: { error: refused(message) },
    })
  })
})
