import { describe, expect, test } from 'vitest'
import { stores, useServer } from '../../support/harness.ts'
import { documentCalls, ids, organizationId, plain } from './calls.ts'

describe.each(stores)('documents.updateAccess and updateDisableState on %s', (store) => {
  const server = useServer(store)
  const { tenantWithOrganization, add, addFolders, all, one, refuseAll } = documentCalls(server)

  test('[10.6] [0.3] updateAccess gives documents their own access type, and refuses an invalid body', async () => {
    const tenant = await tenantWithOrganization()
    await addFolders(tenant, [{ folderId: 'shut', accessType: 'restricted' }])
    await add(tenant, ['d1'], 'shut')
    for (const [accessType, version] of [
      ['organizationPrivate', 'v2'],
      ['public', 'v1'],
    ] as const) {
      const input = { organizationId, documentIds: ['d1', 'd2', 'd1'], accessType }
      expect(await tenant.client.documents.updateAccess(input, { version })).toEqual({
        message: 'Updated access for documents successfully.',
        data: {
          d1: { success: true, accessType, message: 'Document access type updated.' },
          d2: { success: false, message: 'Document does not exist' },
        },
      })
      expect(await one(tenant, 'd1')).toMatchObject({ accessType })
    }
    await refuseAll(tenant, 'access/update', [
      [{ documentIds: ['d1'], accessType: 'public' }, 'organizationId is required.'],
      [{ organizationId, accessType: 'public' }, 'documentIds is required.'],
      [{ organizationId, documentIds: [], accessType: 'public' }, 'documentIds must not be empty.'],
      [
        { organizationId, documentIds: ids(501), accessType: 'public' },
        'documentIds must have at most 500 items.',
      ],
      [{ organizationId, documentIds: ['d1'] }, 'accessType is required.'],
      [
        { organizationId, documentIds: ['d1'], accessType: 'secret' },
        'accessType must be one of: public, restricted, organizationPrivate.',
      ],
    ])
  })

  test('[10.7] [0.3] updateDisableState disables and enables documents, creates none, and refuses an invalid body', async () => {
    const tenant = await tenantWithOrganization()
    await add(tenant, ['d1'])
    for (const [disabled, version] of [
      [true, 'v2'],
      [false, 'v1'],
    ] as const) {
      const input = { organizationId, documentIds: ['d1', 'd2', 'd1'], disabled }
      expect(await tenant.client.documents.updateDisableState(input, { version })).toEqual({
        message: 'Updated disable state for documents successfully.',
        data: {
          d1: { success: true, disabled, message: 'Document disabled state updated.' },
          d2: { success: false, message: 'Document does not exist' },
        },
      })
      expect(await all(tenant)).toEqual([{ ...plain, id: 'd1', documentId: 'd1', disabled }])
    }
    await refuseAll(tenant, 'access/disablestate/update', [
      [{ documentIds: ['d1'], disabled: true }, 'organizationId is required.'],
      [{ organizationId, disabled: true }, 'documentIds is required.'],
      [{ organizationId, documentIds: [], disabled: true }, 'documentIds must not be empty.'],
      [{ organizationId, documentIds: ids(501), disabled: true }, 'documentIds must have at most 500 items.'],
      [{ organizationId, documentIds: ['d1'] }, 'disabled is required.'],
      [{ organizationId, documentIds: ['d1'], disabled: 'yes' }, 'disabled must be a boolean.'],
    ])
  })
})
