import { describe, expect, test } from 'vitest'
import { stores, useServer } from '../../support/harness.ts'
import { chain, folderCalls, organizationId, refused } from './calls.ts'

describe.each(stores)('folders.updateAccess on %s', (store) => {
  const server = useServer(store)
  const { tenantWithOrganization, add, all, one, post } = folderCalls(server)

  test('[9.5] updateAccess sets the access type of each folder, and inheriting folders follow', async () => {
    const tenant = await tenantWithOrganization()
    await add(tenant, [...chain(3), { folderId: 'own', parentFolderId: 'f1', accessType: 'public' }])
    expect(
      await tenant.client.folders.updateAccess({
        organizationId,
        folderIds: ['f1', 'nowhere', 'f1'],
        accessType: 'organizationPrivate',
      }),
    ).toEqual({
      message: 'Updated access for folders successfully.',
      data: {
        f1: {
          success: true,
          accessType: 'organizationPrivate',
          message: 'Folder access type updated.',
        },
        nowhere: { success: false, message: 'Folder does not exist.' },
      },
    })
    expect(await one(tenant, 'f1')).toMatchObject({ accessType: 'organizationPrivate' })
    expect(await one(tenant, 'f3')).toMatchObject({
      accessType: 'organizationPrivate',
      inheritAccessFromParent: true,
    })
    expect(await one(tenant, 'own')).toMatchObject({ accessType: 'public', inheritAccessFromParent: false })
  })

  test('[9.5] updateAccess with inheritFromParent removes the folder’s own type and overrides accessType', async () => {
    const tenant = await tenantWithOrganization()
    await add(tenant, [
      { folderId: 'f1', accessType: 'restricted' },
      { folderId: 'c1', parentFolderId: 'f1', accessType: 'public' },
    ])
    expect(
      await tenant.client.folders.updateAccess({
        organizationId,
        folderIds: ['c1', 'nowhere'],
        accessType: 'organizationPrivate',
        inheritFromParent: true,
      }),
    ).toEqual({
      message: 'Folder access type updated.',
      data: {
        c1: {
          success: true,
          accessType: null,
          inheritFromParent: true,
          message: 'Folder access type updated.',
        },
        nowhere: { success: false, message: 'Folder does not exist.' },
      },
    })
    expect(await one(tenant, 'c1')).toMatchObject({
      accessType: 'restricted',
      inheritAccessFromParent: true,
    })
  })

  test('[0.6] updateAccess treats an id with a comma as one id', async () => {
    const tenant = await tenantWithOrganization()
    await add(tenant, [{ folderId: 'a,b' }, { folderId: 'a' }])
    const { data } = await tenant.client.folders.updateAccess({
      organizationId,
      folderIds: ['a,b'],
      accessType: 'restricted',
    })
    expect(Object.keys(data)).toEqual(['a,b'])
    expect(await one(tenant, 'a')).toMatchObject({ accessType: 'public' })
  })

  test('[0.1.4] [9.5] v1 updateAccess ignores inheritFromParent', async () => {
    const tenant = await tenantWithOrganization()
    await add(tenant, [{ folderId: 'f1' }, { folderId: 'c1', parentFolderId: 'f1' }])
    const input = { organizationId, folderIds: ['c1'], inheritFromParent: true }
    expect(await post(tenant, 'access/update', input, 'v1')).toEqual(refused('accessType is required.'))
    const answer = await tenant.client.folders.updateAccess(
      { ...input, accessType: 'restricted' },
      { version: 'v1' },
    )
    expect(answer).toEqual({
      message: 'Updated access for folders successfully.',
      data: { c1: { success: true, accessType: 'restricted', message: 'Folder access type updated.' } },
    })
    expect(await one(tenant, 'c1')).toMatchObject({ inheritAccessFromParent: false })
  })

  test('[9.5] [0.3] updateAccess refuses an invalid body and changes nothing', async () => {
    const tenant = await tenantWithOrganization()
    await add(tenant, chain(1))
    const before = await all(tenant)
    const faults: [Record<string, unknown>, string][] = [
      [{ folderIds: ['f1'], accessType: 'public' }, 'organizationId is required.'],
      [{ organizationId, accessType: 'public' }, 'folderIds is required.'],
      [{ organizationId, folderIds: [], accessType: 'public' }, 'folderIds must not be empty.'],
      [
        { organizationId, folderIds: Array.from({ length: 501 }, () => 'f1'), accessType: 'public' },
        'folderIds must have at most 500 items.',
      ],
      [{ organizationId, folderIds: ['f1'] }, 'accessType is required.'],
      [{ organizationId, folderIds: ['f1'], inheritFromParent: false }, 'accessType is required.'],
      [
        { organizationId, folderIds: ['f1'], accessType: 'secret' },
        'accessType must be one of: public, restricted, organizationPrivate.',
      ],
    ]
    for (const [data, message] of faults) {
      expect(await post(tenant, 'access/update', data), message).toEqual(refused(message))
    }
    expect(await all(tenant)).toEqual(before)
  })
})
