import type { Client } from '@plenum/client'
import type { PermissionResource } from '@plenum/protocol'
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

type Role = 'viewer' | 'editor'

/** Returns the access of `u1` to `d1`. */
const accessOf = async (client: Client) =>
  (await permissionsOf(client, 'u1', { documentIds: ['d1'] }))?.documents?.d1

describe.each(stores)('access rules on %s', (store) => {
  const server = useServer(store, { isOwn: true })
  const scene = () => folderScene(server)

  type Level = 'key' | 'folder' | 'document'
  type Type = 'public' | 'organizationPrivate' | 'restricted'
  interface Grants {
    organization?: Role
    folder?: Role
    document?: Role | 'expired'
  }
  const everything = { organization: 'editor', folder: 'editor', document: 'editor' } as const

  /** Creates `d1` in `f1` of `o1`, sets the access type at the given level, and gives `u1` the grants. */
  async function accessScene(accessType: Type, level: Level, grants: Grants): Promise<Client> {
    const tenant = await given.tenant(server)
    const { client } = tenant
    const own = (at: Level) => (level === at ? { accessType } : {})
    if (level === 'key') await client.apiKeyConfig.update({ defaultDocumentAccessType: accessType })
    await given.organization(tenant, 'o1')
    await client.folders.add({ organizationId: 'o1', folders: [{ folderId: 'f1', ...own('folder') }] })
    await client.documents.add({
      organizationId: 'o1',
      folderId: 'f1',
      documents: [{ documentId: 'd1', ...own('document') }],
    })
    const resources: PermissionResource[] = []
    if (grants.organization) resources.push({ ...organization, accessRole: grants.organization })
    if (grants.folder) resources.push({ ...folder('f1'), accessRole: grants.folder })
    if (grants.document === 'expired') resources.push({ ...document('d1'), expiresAt: nowSeconds() - 1 })
    else if (grants.document) resources.push({ ...document('d1'), accessRole: grants.document })
    if (resources.length > 0) await grant(client, 'u1', ...resources)
    return client
  }

  test.each<[type: Type, level: Level, grants: Grants, role: Role | 'none']>([
    ['public', 'key', {}, 'editor'],
    ['public', 'key', { organization: 'viewer' }, 'viewer'],
    ['organizationPrivate', 'folder', {}, 'none'],
    ['organizationPrivate', 'folder', { organization: 'editor', document: 'viewer' }, 'viewer'],
    ['organizationPrivate', 'document', { document: 'editor' }, 'editor'],
    ['restricted', 'document', { organization: 'editor', folder: 'editor' }, 'none'],
    ['restricted', 'folder', { organization: 'editor' }, 'none'],
    ['restricted', 'folder', { folder: 'viewer' }, 'viewer'],
    ['restricted', 'key', { organization: 'editor' }, 'none'],
    ['restricted', 'document', { document: 'expired' }, 'none'],
  ])(
    '[25.9] with the access type %s set at the level %s and the grants %j, the role is %s',
    async (accessType, level, grants, role) => {
      const client = await accessScene(accessType, level, grants)
      expect(await accessOf(client)).toEqual(
        role === 'none' ? { ...denied('document'), accessType } : { accessRole: role, accessType },
      )
    },
  )

  test.each(['public', 'organizationPrivate', 'restricted'] as const)(
    '[25.4.6] [25.9] a %s document denies a user with every grant while the document or its organization is disabled',
    async (accessType) => {
      const client = await accessScene(accessType, 'document', everything)
      const closed = { ...denied('document'), accessType }
      expect(await accessOf(client)).toEqual({ accessRole: 'editor', accessType })
      await client.documents.updateDisableState({
        organizationId: 'o1',
        documentIds: ['d1'],
        disabled: true,
      })
      expect(await accessOf(client)).toEqual(closed)
      await client.documents.updateDisableState({
        organizationId: 'o1',
        documentIds: ['d1'],
        disabled: false,
      })
      await client.organizations.updateDisableState({ organizationIds: ['o1'], disabled: true })
      expect(await permissionsOf(client, 'u1', { folderIds: ['f1'], documentIds: ['d1'] })).toEqual({
        folders: { f1: { ...denied('folder'), accessType: 'public' } },
        documents: { d1: closed },
        organization: { o1: denied('organization') },
      })
    },
  )

  test('[25.2] the access type comes from the nearest resource that has one, and follows a move', async () => {
    const { client } = await scene()
    const types = async () => {
      const permissions = await permissionsOf(client, 'u1', {
        folderIds: ['outer', 'inner'],
        documentIds: ['deep'],
      })
      return [permissions?.folders?.outer, permissions?.folders?.inner, permissions?.documents?.deep].map(
        (permission) => permission?.accessType,
      )
    }
    expect(await types()).toEqual(['public', 'public', 'public'])
    await client.apiKeyConfig.update({ defaultDocumentAccessType: 'organizationPrivate' })
    expect(await types()).toEqual(['organizationPrivate', 'organizationPrivate', 'organizationPrivate'])
    await client.folders.updateAccess({
      organizationId: 'o1',
      folderIds: ['outer'],
      accessType: 'restricted',
    })
    expect(await types()).toEqual(['restricted', 'restricted', 'restricted'])
    await client.folders.updateAccess({ organizationId: 'o1', folderIds: ['inner'], accessType: 'public' })
    expect(await types()).toEqual(['restricted', 'public', 'public'])
    await client.folders.updateAccess({
      organizationId: 'o1',
      folderIds: ['inner'],
      inheritFromParent: true,
    })
    await client.folders.update({
      organizationId: 'o1',
      folders: [{ folderId: 'inner', parentFolderId: 'root' }],
    })
    expect(await types()).toEqual(['restricted', 'organizationPrivate', 'organizationPrivate'])
    await client.documents.move({ organizationId: 'o1', documentIds: ['deep'], folderId: 'outer' })
    expect(await types()).toEqual(['restricted', 'organizationPrivate', 'restricted'])
  })

  test('[25.4.5] under a restricted folder, only grants on that folder or below it apply', async () => {
    const { client } = await scene()
    await client.folders.updateAccess({
      organizationId: 'o1',
      folderIds: ['inner'],
      accessType: 'restricted',
    })
    await grant(client, 'above', organization, folder('outer'))
    await grant(client, 'inside', { ...folder('inner'), accessRole: 'viewer' })
    const { data } = await client.permissions.get({
      organizationId: 'o1',
      userIds: ['above', 'inside'],
      folderIds: ['inner'],
      documentIds: ['deep'],
    })
    expect(data.above?.documents).toEqual({ deep: { ...denied('document'), accessType: 'restricted' } })
    expect(data.inside).toEqual({
      folders: { inner: { accessRole: 'viewer', accessType: 'restricted' } },
      documents: { deep: { accessRole: 'viewer', accessType: 'restricted' } },
      ...stranger,
    })
  })

  test('[25.4.1] the most specific grant determines the role, at any depth', async () => {
    const tenant = await given.tenant(server)
    const { client } = tenant
    await given.organization(tenant, 'o1')
    const ids = Array.from({ length: 32 }, (_, depth) => `f${depth}`)
    await client.folders.add({
      organizationId: 'o1',
      folders: ids.map((folderId, depth) => ({
        folderId,
        ...(depth > 0 && { parentFolderId: `f${depth - 1}` }),
      })),
    })
    await client.documents.add({ organizationId: 'o1', folderId: 'f31', documents: [{ documentId: 'd1' }] })
    await grant(client, 'u1', organization, { ...folder('f0'), accessRole: 'viewer' })
    expect(await accessOf(client)).toEqual({ accessRole: 'viewer', accessType: 'public' })
    await grant(client, 'u1', { ...folder('f30'), accessRole: 'editor' })
    expect(await accessOf(client)).toEqual({ accessRole: 'editor', accessType: 'public' })
  })

  test('[25.8] a grant is void as soon as the clock reaches its expiresAt, without any call', async () => {
    const client = await accessScene('restricted', 'document', { organization: 'editor' })
    const expiresAt = nowSeconds() + 3600
    await grant(client, 'u1', { ...document('d1'), expiresAt })
    expect(await accessOf(client)).toEqual({ accessRole: 'editor', accessType: 'restricted', expiresAt })
    try {
      server.clock.offsetMs = expiresAt * 1000 - Date.now()
      expect(await accessOf(client)).toEqual({ ...denied('document'), accessType: 'restricted' })
    } finally {
      server.clock.offsetMs = 0
    }
  })

  test('[0.2.1] grants and resources of another API key are invisible', async () => {
    const one = await scene()
    const other = await scene()
    await grant(one.client, 'u1', { ...organization, accessRole: 'viewer' }, document('flat'))
    await one.client.documents.add({ organizationId: 'o1', documents: [{ documentId: 'mine' }] })
    expect(await permissionsOf(other.client, 'u1', { documentIds: ['flat'] })).toEqual({
      documents: { flat: { accessRole: 'editor', accessType: 'public' } },
      ...stranger,
    })
    await expect(permissionsOf(other.client, 'u1', { documentIds: ['mine'] })).rejects.toMatchObject({
      status: 'NOT_FOUND',
    })
    await other.client.permissions.remove({ userId: 'u1', permissions: { resources: [organization] } })
    expect(await permissionsOf(one.client, 'u1')).toEqual({
      organization: { o1: { accessRole: 'viewer' } },
    })
  })
})
