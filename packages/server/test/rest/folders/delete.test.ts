import { describe, expect, test } from 'vitest'
import { stores, useServer } from '../../support/harness.ts'
import { chain, folderCalls, organizationId, refused } from './calls.ts'

describe.each(stores)('folders.delete on %s', (store) => {
  const server = useServer(store)
  const { tenantWithOrganization, add, all, post } = folderCalls(server)

  test('[9.4] delete removes the folder, its subfolders and their documents, and no other folder or document', async () => {
    const tenant = await tenantWithOrganization()
    const { client } = tenant
    await add(tenant, [...chain(3), { folderId: 'other' }])
    for (const folderId of ['f1', 'f2', 'f3', 'other']) {
      await client.documents.add({
        organizationId,
        folderId,
        documents: [{ documentId: `in ${folderId}` }],
      })
    }
    expect(await client.folders.delete({ organizationId, folderId: 'f2' })).toEqual({
      message: 'Folder deletion initiated successfully.',
      data: null,
    })
    expect((await all(tenant)).map((folder) => folder.folderId)).toEqual(['f1', 'other'])
    const { data } = await client.documents.get({ organizationId })
    expect(data.map((document) => document.id)).toEqual(['in f1', 'in other'])
  })

  test('[9.4] delete removes the grants inside the folder and the notification settings of its documents', async () => {
    const tenant = await tenantWithOrganization()
    const { client } = tenant
    const scene = async () => {
      await add(tenant, chain(2))
      await client.documents.add({ organizationId, folderId: 'f2', documents: [{ documentId: 'd1' }] })
    }
    await scene()
    const users = [{ userId: 'u1' }]
    await client.users.add({ organizationId, folderId: 'f1', users })
    await client.users.add({ organizationId, folderId: 'f2', users })
    await client.users.add({ organizationId, documentId: 'd1', users })
    await client.notifications.setConfig({
      organizationId,
      userIds: ['u1'],
      documentIds: ['d1'],
      config: { inbox: 'NONE' },
    })
    await client.folders.delete({ organizationId, folderId: 'f2' })
    await add(tenant, [{ folderId: 'f2', parentFolderId: 'f1' }])
    await client.documents.add({ organizationId, folderId: 'f2', documents: [{ documentId: 'd1' }] })
    expect((await client.users.get({ organizationId, folderId: 'f1' })).data).toMatchObject([
      { userId: 'u1' },
    ])
    expect((await client.users.get({ organizationId, folderId: 'f2' })).data).toEqual([])
    expect((await client.users.get({ organizationId, documentId: 'd1' })).data).toEqual([])
    const { data } = await client.notifications.getConfig({
      organizationId,
      documentIds: ['d1'],
      userId: 'u1',
    })
    expect(data).toMatchObject([{ config: { inbox: 'ALL' } }])
  })

  test('[9.4] delete refuses a missing folder and an incomplete body', async () => {
    const tenant = await tenantWithOrganization()
    await add(tenant, chain(1))
    for (const folderId of ['nowhere', 'root']) {
      expect(await post(tenant, 'delete', { organizationId, folderId })).toEqual(
        refused('Folder not found.', 'NOT_FOUND', 404),
      )
    }
    expect(await post(tenant, 'delete', { organizationId })).toEqual(refused('folderId is required.'))
    expect(await post(tenant, 'delete', { folderId: 'f1' })).toEqual(refused('organizationId is required.'))
    expect(await all(tenant)).toHaveLength(1)
  })

  test('[9.4] delete exists under v2 only', async () => {
    const tenant = await tenantWithOrganization()
    await add(tenant, chain(1))
    expect(await post(tenant, 'delete', { organizationId, folderId: 'f1' }, 'v1')).toEqual(
      refused('Not found.', 'NOT_FOUND', 404),
    )
    expect(await all(tenant)).toHaveLength(1)
  })

  test('[9.4] nothing remains in a deleted folder to which concurrent calls add folders and documents', async () => {
    const tenant = await tenantWithOrganization()
    for (let round = 0; round < 5; round++) {
      await add(tenant, [{ folderId: 'top' }])
      await Promise.all([
        tenant.client.folders.delete({ organizationId, folderId: 'top' }),
        add(tenant, [{ folderId: 'inside', parentFolderId: 'top' }]),
        tenant.client.documents
          .add({ organizationId, folderId: 'top', documents: [{ documentId: 'd1' }] })
          .catch((error: unknown) => expect(error).toMatchObject({ message: 'Folder does not exist.' })),
      ])
      expect(await all(tenant)).toEqual([])
      expect((await tenant.client.documents.get({ organizationId })).data).toEqual([])
    }
  })
})
