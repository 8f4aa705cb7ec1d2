import { describe, expect, test } from 'vitest'
import { stores, useServer } from '../../support/harness.ts'
import { documentCalls, ids, organizationId, plain, refused, v1 } from './calls.ts'

describe.each(stores)('documents.move on %s', (store) => {
  const server = useServer(store)
  const { tenantWithOrganization, add, addFolders, all, one, post, refuseAll } = documentCalls(server)

  test('[10.5] move puts documents into a folder and back to the top level, and inherited access follows', async () => {
    const tenant = await tenantWithOrganization()
    await addFolders(tenant, [{ folderId: 'shut', accessType: 'restricted' }])
    await add(tenant, ['d1', 'd2'])
    const move = (folderId: string) =>
      tenant.client.documents.move({ organizationId, documentIds: ['d1', 'd1'], folderId })
    expect(await move('shut')).toEqual({ message: 'Documents moved successfully.', data: null })
    expect(await all(tenant)).toEqual([
      { ...plain, id: 'd1', documentId: 'd1', folderId: 'shut', accessType: 'restricted' },
      { ...plain, id: 'd2', documentId: 'd2' },
    ])
    await move('root')
    expect(await one(tenant, 'd1')).toEqual({ ...plain, id: 'd1', documentId: 'd1' })
  })

  test('[10.5] [0.3] move moves all documents or none, also under v1, and refuses an invalid body', async () => {
    const tenant = await tenantWithOrganization()
    await addFolders(tenant, [{ folderId: 'f1' }])
    await add(tenant, ['d1'])
    const documentIds = ['d1', 'nowhere']
    for (const version of ['v1', 'v2']) {
      expect(await post(tenant, 'move', { organizationId, documentIds, folderId: 'f1' }, version)).toEqual(
        refused('Document does not exist.'),
      )
    }
    await refuseAll(tenant, 'move', [
      [{ organizationId, documentIds: ['d1'], folderId: 'nowhere' }, 'Folder does not exist.'],
      [{ documentIds: ['d1'], folderId: 'f1' }, 'organizationId is required.'],
      [{ organizationId, folderId: 'f1' }, 'documentIds is required.'],
      [{ organizationId, documentIds: [], folderId: 'f1' }, 'documentIds must not be empty.'],
      [{ organizationId, documentIds: ids(31), folderId: 'f1' }, 'documentIds must have at most 30 items.'],
      [{ organizationId, documentIds: ['d1'] }, 'folderId is required.'],
    ])
    expect(
      await tenant.client.documents.move({ organizationId, documentIds: ['d1'], folderId: 'f1' }, v1),
    ).toEqual({ message: 'Documents moved successfully.', data: null })
  })
})
