import { describe, expect, test } from 'vitest'
import { stores, useServer } from '../../support/harness.ts'
import { documentCalls, ids, internalId, missing, organizationId, plain, v1 } from './calls.ts'

describe.each(stores)('documents.update on %s', (store) => {
  const server = useServer(store, { isOwn: true })
  const { tenantWithOrganization, add, addFolders, all, one, post, refuseAll } = documentCalls(server)

  test('[10.3] update merges the keys of the request, and null removes a key', async () => {
    const tenant = await tenantWithOrganization()
    await addFolders(tenant, [{ folderId: 'f1' }])
    await tenant.client.documents.add({
      organizationId,
      folderId: 'f1',
      documents: [{ documentId: 'd1', documentName: 'A', kept: 1, gone: 2 }],
    })
    const before = await one(tenant, 'd1')
    server.clock.offsetMs += 1000
    expect(
      await tenant.client.documents.update({
        organizationId,
        documents: [{ documentId: 'd1', documentName: 'B', gone: null, accessType: 'restricted' }],
      }),
    ).toEqual({
      message: 'Document(s) updated successfully.',
      data: { d1: { success: true, id: internalId, message: 'Updated Successfully' } },
    })
    const after = await one(tenant, 'd1')
    expect(after).toEqual({
      id: 'd1',
      documentId: 'd1',
      documentName: 'B',
      kept: 1,
      folderId: 'f1',
      accessType: 'restricted',
      disabled: false,
      createdAt: before?.createdAt,
      lastUpdated: expect.any(Number),
    })
    expect(after?.lastUpdated).toBeGreaterThan(before?.lastUpdated ?? Infinity)
  })

  test('[10.3] [0.4.1] update changes the existing documents; if one is missing, v2 answers an error and v1 a success', async () => {
    const tenant = await tenantWithOrganization()
    await add(tenant, ['d1'])
    const documents = [
      { documentId: 'd1', documentName: 'B' },
      { documentId: 'd2', documentName: 'B' },
      { documentId: 'd1', documentName: 'twice' },
    ]
    const outcomes = {
      d1: { success: true, id: internalId, message: 'Updated Successfully' },
      d2: missing('d2'),
    }
    expect(await post(tenant, 'update', { organizationId, documents })).toEqual({
      status: 500,
      body: { error: { status: 'INTERNAL', message: 'Error updating document(s).', details: outcomes } },
    })
    expect(await one(tenant, 'd1')).toMatchObject({ documentName: 'B' })
    expect(
      await tenant.client.documents.update({ organizationId, documents: documents.toReversed() }, v1),
    ).toEqual({
      message: 'Document(s) updated successfully.',
      data: outcomes,
    })
    expect(await all(tenant)).toEqual([{ ...plain, id: 'd1', documentId: 'd1', documentName: 'twice' }])
  })

  test('[10.3] [0.3] update refuses an invalid body and changes nothing', async () => {
    const tenant = await tenantWithOrganization()
    await add(tenant, ['d1'])
    await refuseAll(tenant, 'update', [
      [{ documents: [{ documentId: 'd1' }] }, 'organizationId is required.'],
      [{ organizationId }, 'documents is required.'],
      [{ organizationId, documents: [] }, 'documents must not be empty.'],
      [
        { organizationId, documents: ids(501).map((documentId) => ({ documentId })) },
        'documents must have at most 500 items.',
      ],
      [
        { organizationId, documents: [{ documentId: 'd1', documentName: 'x' }, { documentName: 'y' }] },
        'documents[1].documentId is required.',
      ],
      [
        { organizationId, documents: [{ documentId: 'd1', documentName: null }] },
        'documents[0].documentName must be a string.',
      ],
    ])
  })
})
