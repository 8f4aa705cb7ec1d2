import { describe, expect, test } from 'vitest'
import * as given from '../../support/given.ts'
import { stores, useServer } from '../../support/harness.ts'
import {
  denied,
  document,
  folder,
  folderScene,
  grant,
  nowSeconds,
  organization,
  permissionsOf,
  stranger,
} from '../../support/access/permission-scenes.ts'

const refused = (message: string) => ({
  status: 400,
  body: { error: { status: 'INVALID_ARGUMENT', message } },
})

describe.each(stores)('permissions on %s', (store) => {
  const server = useServer(store)

  const scene = () => folderScene(server)
  const raw = (verb: 'add' | 'get' | 'remove', { headers }: given.Tenant, data: unknown) =>
    server.post(`/v2/auth/permissions/${verb}`, { data }, headers)

  describe('add', () => {
    test('[7.3] add grants roles on an organization, a folder and a document', async () => {
      const { client } = await scene()
      expect(
        await grant(
          client,
          'u1',
          { ...organization, accessRole: 'viewer' },
          { ...folder('outer'), accessRole: 'editor' },
          { ...document('flat'), accessRole: 'viewer' },
        ),
      ).toEqual({ message: 'Permissions added successfully.', data: null })
      expect(
        await permissionsOf(client, 'u1', { folderIds: ['outer'], documentIds: ['deep', 'flat'] }),
      ).toEqual({
        folders: { outer: { accessRole: 'editor', accessType: 'public' } },
        documents: {
          deep: { accessRole: 'editor', accessType: 'public' },
          flat: { accessRole: 'viewer', accessType: 'public' },
        },
        organization: { o1: { accessRole: 'viewer' } },
      })
    })

    test('[7.3] [25.3.5] a second add replaces the expiry, and the role if one is sent', async () => {
      const { client } = await scene()
      const expiresAt = nowSeconds() + 3600
      await grant(client, 'u1', { ...organization, accessRole: 'viewer', expiresAt })
      expect(await permissionsOf(client, 'u1')).toEqual({
        organization: { o1: { accessRole: 'viewer', expiresAt } },
      })
      await grant(client, 'u1', organization)
      expect(await permissionsOf(client, 'u1')).toEqual({ organization: { o1: { accessRole: 'viewer' } } })
      await grant(client, 'u1', { ...organization, accessRole: 'editor', expiresAt })
      expect(await permissionsOf(client, 'u1')).toEqual({
        organization: { o1: { accessRole: 'editor', expiresAt } },
      })
    })

    test('[7.3] [0.6.4] add stores an expiry in milliseconds as seconds', async () => {
      const { client } = await scene()
      await grant(client, 'u1', { ...organization, expiresAt: 4_102_444_800_999 })
      expect(await permissionsOf(client, 'u1')).toEqual({
        organization: { o1: { accessRole: 'editor', expiresAt: 4_102_444_800 } },
      })
    })

    test('[7.3] [0.6.4] add rounds a fractional expiry down', async () => {
      const { client } = await scene()
      await grant(client, 'u1', { ...organization, expiresAt: 4_102_444_800.9 })
      expect(await permissionsOf(client, 'u1')).toEqual({
        organization: { o1: { accessRole: 'editor', expiresAt: 4_102_444_800 } },
      })
    })

    test('[7.3] [0.4.2] the first entry wins when a request names a resource twice', async () => {
      const { client } = await scene()
      const twice = { ...organization, organizationId: 'ignored' }
      await grant(client, 'u1', { ...twice, accessRole: 'viewer' }, { ...organization, accessRole: 'editor' })
      expect(await permissionsOf(client, 'u1')).toEqual({ organization: { o1: { accessRole: 'viewer' } } })
    })

    test('[7.3] [0.8] a grant on a resource that does not exist yet applies once the resource is created', async () => {
      const tenant = await given.tenant(server)
      const { client } = tenant
      await grant(client, 'u1', organization, { ...document('later'), accessRole: 'viewer' })
      expect((await client.organizations.get()).data).toEqual([])
      await given.organization(tenant, 'o1')
      await client.documents.add({ organizationId: 'o1', documents: [{ documentId: 'later' }] })
      expect(await permissionsOf(client, 'u1', { documentIds: ['later'] })).toEqual({
        documents: { later: { accessRole: 'viewer', accessType: 'public' } },
        organization: { o1: { accessRole: 'editor' } },
      })
    })

    test('[7.3] [0.8] add creates an unknown user and keeps the profile of a known one', async () => {
      const { client } = await scene()
      await client.users.add({ organizationId: 'o1', users: [{ userId: 'u1', name: 'Ada' }] })
      await grant(client, 'u1', { ...organization, accessRole: 'viewer' })
      await grant(client, 'u2', organization)
      const { data } = await client.users.get({ organizationId: 'o1' })
      expect(data).toMatchObject([
        { userId: 'u1', name: 'Ada', accessRole: 'viewer' },
        { userId: 'u2', accessRole: 'editor' },
      ])
    })

    test('[7.3] add accepts the user as userId, the form that remove uses', async () => {
      const { client } = await scene()
      await client.permissions.add({ userId: 'u1', permissions: { resources: [organization] } })
      expect(await permissionsOf(client, 'u1')).toEqual({ organization: { o1: { accessRole: 'editor' } } })
    })

    test('[7.3] [0.7.5] add accepts 500 resources', async () => {
      const { client } = await scene()
      const resources = Array.from({ length: 500 }, (_, n) => document(`d${n}`))
      expect((await grant(client, 'u1', ...resources)).data).toBeNull()
    })

    test.each<[message: string, data: object]>([
      ['user.userId is required.', { permissions: { resources: [organization] } }],
      ['user.userId is required.', { user: {}, permissions: { resources: [organization] } }],
      ['user.userId is required.', { user: { userId: ' ' }, permissions: { resources: [organization] } }],
      ['user must be an object.', { user: 'u1', permissions: { resources: [organization] } }],
      ['permissions is required.', { user: { userId: 'u1' } }],
      ['permissions.resources is required.', { user: { userId: 'u1' }, permissions: {} }],
      [
        'permissions.resources must not be empty.',
        { user: { userId: 'u1' }, permissions: { resources: [] } },
      ],
      [
        'permissions.resources must have at most 500 items.',
        {
          user: { userId: 'u1' },
          permissions: { resources: Array.from({ length: 501 }, () => organization) },
        },
      ],
      [
        'permissions.resources[1].organizationId is required.',
        { user: { userId: 'u1' }, permissions: { resources: [organization, { type: 'folder', id: 'f1' }] } },
      ],
      [
        'permissions.resources[0].expiresAt must be at least 1.',
        { user: { userId: 'u1' }, permissions: { resources: [{ ...organization, expiresAt: -1 }] } },
      ],
    ])('[7.3] [0.3] add refuses a faulty body: %s', async (message, data) => {
      const tenant = await scene()
      expect(await raw('add', tenant, data)).toMatchObject(refused(message))
      expect(await permissionsOf(tenant.client, 'u1')).toEqual(stranger)
    })
  })

  describe('get', () => {
    test('[7.4] get returns the requested resources and the organization for each user', async () => {
      const { client } = await scene()
      await client.documents.updateAccess({
        organizationId: 'o1',
        documentIds: ['flat'],
        accessType: 'restricted',
      })
      const expiresAt = nowSeconds() + 60
      await grant(client, 'u1', organization, { ...document('flat'), accessRole: 'viewer', expiresAt })
      expect(
        await client.permissions.get({
          organizationId: 'o1',
          userIds: ['u1', 'u2', 'u1'],
          folderIds: ['inner'],
          documentIds: ['flat'],
        }),
      ).toEqual({
        message: 'User permissions retrieved successfully.',
        data: {
          u1: {
            folders: { inner: { accessRole: 'editor', accessType: 'public' } },
            documents: { flat: { accessRole: 'viewer', accessType: 'restricted', expiresAt } },
            organization: { o1: { accessRole: 'editor' } },
          },
          u2: {
            folders: { inner: { accessRole: 'editor', accessType: 'public' } },
            documents: { flat: { ...denied('document'), accessType: 'restricted' } },
            organization: { o1: denied('organization') },
          },
        },
      })
    })

    test('[7.4] get leaves out folders and documents that were not requested', async () => {
      const { client } = await scene()
      expect(await permissionsOf(client, 'u1')).toEqual(stranger)
      expect(await permissionsOf(client, 'u1', { documentIds: ['flat'] })).toEqual({
        documents: { flat: { accessRole: 'editor', accessType: 'public' } },
        ...stranger,
      })
    })

    test('[7.4] get returns the access type of a folder that the user cannot access', async () => {
      const { client } = await scene()
      await client.folders.updateAccess({
        organizationId: 'o1',
        folderIds: ['outer'],
        accessType: 'restricted',
      })
      await grant(client, 'u1', organization)
      expect(await permissionsOf(client, 'u1', { folderIds: ['outer', 'inner'] })).toEqual({
        folders: {
          outer: { ...denied('folder'), accessType: 'restricted' },
          inner: { ...denied('folder'), accessType: 'restricted' },
        },
        organization: { o1: { accessRole: 'editor' } },
      })
    })

    test('[7.4] [0.4.1] get fails when a folder or document does not exist, and skipResourceExistenceValidation returns the same entries as a success', async () => {
      const tenant = await scene()
      await grant(tenant.client, 'u1', organization)
      const asked = {
        organizationId: 'o1',
        userIds: ['u1'],
        folderIds: ['inner', 'f9'],
        documentIds: ['d9', 'flat'],
      }
      const permissions = {
        u1: {
          folders: {
            inner: { accessRole: 'editor', accessType: 'public' },
            f9: { error: 'Folder does not exist', errorCode: 'does_not_exist' },
          },
          documents: {
            d9: { error: 'Document does not exist', errorCode: 'does_not_exist' },
            flat: { accessRole: 'editor', accessType: 'public' },
          },
          organization: { o1: { accessRole: 'editor' } },
        },
      }
      expect(await raw('get', tenant, asked)).toMatchObject({
        status: 404,
        body: {
          error: { status: 'NOT_FOUND', message: 'Folder or document does not exist', details: permissions },
        },
      })
      expect(
        await tenant.client.permissions.get({ ...asked, skipResourceExistenceValidation: true }),
      ).toEqual({
        message: 'User permissions retrieved successfully.',
        data: permissions,
      })
    })

    test('[7.4] get does not find resources of another organization', async () => {
      const { client } = await scene()
      await client.organizations.add({ organizations: [{ organizationId: 'o2' }] })
      await expect(
        client.permissions.get({ organizationId: 'o2', userIds: ['u1'], documentIds: ['flat'] }),
      ).rejects.toMatchObject({ status: 'NOT_FOUND', message: 'Folder or document does not exist' })
    })

    test.each([{}, { skipResourceExistenceValidation: true }])(
      '[7.4] get answers NOT_FOUND for a missing organization, with %j',
      async (more) => {
        const tenant = await scene()
        expect(await raw('get', tenant, { organizationId: 'o9', userIds: ['u1'], ...more })).toMatchObject({
          status: 404,
          body: { error: { status: 'NOT_FOUND', message: 'Organization does not exist' } },
        })
      },
    )

    test('[7.4] [0.6.3] get accepts ids that are names of object properties', async () => {
      const { client } = await scene()
      await client.documents.add({ organizationId: 'o1', documents: [{ documentId: 'toString' }] })
      const { data } = await client.permissions.get({
        organizationId: 'o1',
        userIds: ['constructor', 'hasOwnProperty'],
        documentIds: ['toString'],
      })
      expect(Object.entries(data)).toEqual([
        [
          'constructor',
          { documents: { toString: { accessRole: 'editor', accessType: 'public' } }, ...stranger },
        ],
        [
          'hasOwnProperty',
          { documents: { toString: { accessRole: 'editor', accessType: 'public' } }, ...stranger },
        ],
      ])
    })

    test.each<[message: string, data: object]>([
      ['organizationId is required.', {}],
      ['userIds is required.', { organizationId: 'o1' }],
      ['userIds must not be empty.', { organizationId: 'o1', userIds: [] }],
      ['userIds[0] is required.', { organizationId: 'o1', userIds: [''] }],
      [
        'userIds must have at most 30 items.',
        { organizationId: 'o1', userIds: Array.from({ length: 31 }, String) },
      ],
      [
        'folderIds must have at most 30 items.',
        { organizationId: 'o1', userIds: ['u1'], folderIds: Array.from({ length: 31 }, (_, n) => `f${n}`) },
      ],
      [
        'documentIds must have at most 30 items.',
        { organizationId: 'o1', userIds: ['u1'], documentIds: Array.from({ length: 31 }, (_, n) => `d${n}`) },
      ],
      [
        'skipResourceExistenceValidation must be a boolean.',
        { organizationId: 'o1', userIds: ['u1'], skipResourceExistenceValidation: 'yes' },
      ],
    ])('[7.4] [0.3] get refuses a faulty body: %s', async (message, data) => {
      expect(await raw('get', await given.tenant(server), data)).toMatchObject(refused(message))
    })
  })

  describe('remove', () => {
    test('[7.5] remove deletes the grant at the requested level and no other', async () => {
      const { client } = await scene()
      await grant(client, 'u1', { ...organization, accessRole: 'viewer' }, folder('inner'), document('flat'))
      await grant(client, 'u2', { ...document('flat'), accessRole: 'viewer' })
      expect(
        await client.permissions.remove({
          userId: 'u1',
          permissions: { resources: [folder('inner'), document('flat')] },
        }),
      ).toEqual({ message: 'Permissions removed successfully.', data: null })
      const ids = { folderIds: ['inner'], documentIds: ['flat'] }
      expect(await permissionsOf(client, 'u1', ids)).toEqual({
        folders: { inner: { accessRole: 'viewer', accessType: 'public' } },
        documents: { flat: { accessRole: 'viewer', accessType: 'public' } },
        organization: { o1: { accessRole: 'viewer' } },
      })
      expect((await permissionsOf(client, 'u2', ids))?.documents).toEqual({
        flat: { accessRole: 'viewer', accessType: 'public' },
      })
    })

    test('[7.5] remove deletes a grant made by Add Users and keeps the profile', async () => {
      const { client } = await scene()
      await client.users.add({ organizationId: 'o1', users: [{ userId: 'u1', name: 'Ada' }] })
      await client.users.add({ organizationId: 'o1', documentId: 'flat', users: [{ userId: 'u1' }] })
      await client.permissions.remove({ userId: 'u1', permissions: { resources: [organization] } })
      expect(await permissionsOf(client, 'u1')).toEqual(stranger)
      expect((await client.users.get({ organizationId: 'o1' })).data).toEqual([])
      expect((await client.users.get({ organizationId: 'o1', documentId: 'flat' })).data).toMatchObject([
        { userId: 'u1', name: 'Ada' },
      ])
    })

    test('[7.5] a user removed from an organization leaves its groups, but not the groups of other organizations', async () => {
      const { client } = await scene()
      for (const organizationId of ['o1', 'o2']) {
        await client.users.add({ organizationId, users: [{ userId: 'u1' }, { userId: 'u2' }] })
        await client.userGroups.add({
          organizationId,
          organizationUserGroups: [{ groupId: 'g', groupName: 'G' }],
        })
        await client.userGroups.addUsers({
          organizationId,
          organizationUserGroupId: 'g',
          userIds: ['u1', 'u2'],
        })
      }
      await client.permissions.remove({ userId: 'u1', permissions: { resources: [organization] } })
      // The user is back in the organization, but not in the group.
      await grant(client, 'u1', organization)
      const members = async (organizationId: string) => {
        const { data } = await client.users.get({ organizationId, organizationUserGroupIds: ['g'] })
        return (data as { userId: string }[]).map(({ userId }) => userId)
      }
      expect(await members('o1')).toEqual(['u2'])
      expect(await members('o2')).toEqual(['u1', 'u2'])
    })

    test('[7.5] remove succeeds when the grant does not exist', async () => {
      const { client } = await given.tenant(server)
      expect(
        await client.permissions.remove({
          user: { userId: 'u9' },
          permissions: { resources: [organization] },
        }),
      ).toEqual({ message: 'Permissions removed successfully.', data: null })
    })

    test.each<[message: string, data: object]>([
      ['userId is required.', { permissions: { resources: [organization] } }],
      ['userId is required.', { userId: '', permissions: { resources: [organization] } }],
      ['userId is required.', { user: {}, permissions: { resources: [organization] } }],
      ['permissions is required.', { userId: 'u1' }],
      ['permissions.resources must not be empty.', { userId: 'u1', permissions: { resources: [] } }],
      [
        'permissions.resources[0].type must be one of: organization, folder, document, context.',
        { userId: 'u1', permissions: { resources: [{ type: 'group', id: 'g' }] } },
      ],
      [
        'permissions.resources[1].organizationId is required.',
        { userId: 'u1', permissions: { resources: [organization, { type: 'document', id: 'flat' }] } },
      ],
    ])('[7.5] [0.3] remove refuses a faulty body: %s', async (message, data) => {
      const tenant = await scene()
      await grant(tenant.client, 'u1', organization)
      expect(await raw('remove', tenant, data)).toMatchObject(refused(message))
      expect(await permissionsOf(tenant.client, 'u1')).toEqual({
        organization: { o1: { accessRole: 'editor' } },
      })
    })
  })
})
