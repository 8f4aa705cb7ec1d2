import { describe, expect, test } from 'vitest'
import { stores, useServer } from '../../support/harness.ts'
import { documentCalls, ids, internalId, missing, organizationId, v1 } from './calls.ts'

describe.each(stores)('documents.delete on %s', (store) => {
  const server = useServer(store)
  const { tenantWithOrganization, add, all, post, refuseAll } = documentCalls(server)

  test('[10.4] [0.4.1] delete removes documents; if one is missing, v2 answers an error and v1 a success', async () => {
    const tenant = await tenantWithOrganization()
    await add(tenant, ids(4))
    expect(await tenant.client.documents.delete({ organizationId, documentIds: ['d0'] })).toEqual({
      message: 'Document(s) deleted successfully.',
      data: { d0: { success: true, id: internalId, message: 'Deleted Successfully' } },
    })
    const outcomes = (id: string) => ({
      [id]: { success: true, id: internalId, message: 'Deleted Successfully' },
      d0: missing('d0'),
    })
    expect(await post(tenant, 'delete', { organizationId, documentIds: ['d1', 'd0', 'd1'] })).toMatchObject({
      status: 500,
      body: {
        error: { status: 'INTERNAL', message: 'Error deleting document(s).', details: outcomes('d1') },
      },
    })
    expect(await tenant.client.documents.delete({ organizationId, documentIds: ['d2', 'd0'] }, v1)).toEqual({
      message: 'Document(s) deleted successfully.',
      data: outcomes('d2'),
    })
    expect((await all(tenant)).map((document) => document.id)).toEqual(['d3'])
  })

  test('[10.4] delete also removes the content, notifications, notification settings and grants of the document', async () => {
    const tenant = await tenantWithOrganization()
    const { client } = tenant
    const scene = { organizationId, documentId: 'd1' }
    await add(tenant, ['d1', 'd2'])
    for (const documentId of ['d1', 'd2']) {
      await client.users.add({ organizationId, documentId, users: [{ userId: 'u1' }] })
      await client.crdt.add({ organizationId, documentId, editorId: 'e1', type: 'text', data: 'Hello' })
      await client.notifications.add({
        organizationId,
        documentId,
        actionUser: { userId: 'u2' },
        displayHeadlineMessageTemplate: 'Look',
        displayBodyMessage: 'Here',
        notifyUsers: [{ userId: 'u1' }],
      })
      await client.notifications.setConfig({
        organizationId,
        documentIds: [documentId],
        userIds: ['u1'],
        config: { inbox: 'MINE' },
      })
    }
    await client.documents.delete({ organizationId, documentIds: ['d1'] })
    await add(tenant, ['d1'])
    expect((await client.users.get(scene)).data).toEqual([])
    expect((await client.crdt.get(scene)).data).toEqual([])
    expect((await client.notifications.get(scene)).data).toEqual([])
    const config = await client.notifications.getConfig({
      organizationId,
      documentIds: ['d1', 'd2'],
      userId: 'u1',
    })
    expect(
      Object.fromEntries(config.data.map((entry) => [entry.metadata.documentId, entry.config.inbox])),
    ).toEqual({ d1: 'ALL', d2: 'MINE' })
    const other = { organizationId, documentId: 'd2' }
    expect((await client.users.get(other)).data).toMatchObject([{ userId: 'u1' }])
    expect((await client.crdt.get(other)).data).toMatchObject([{ id: 'e1', data: 'Hello' }])
    expect((await client.notifications.get(other)).data).toHaveLength(1)
  })

  test('[10.4] [0.3] delete refuses an invalid body and deletes nothing', async () => {
    const tenant = await tenantWithOrganization()
    await add(tenant, ['d1'])
    await refuseAll(tenant, 'delete', [
      [{ documentIds: ['d1'] }, 'organizationId is required.'],
      [{ organizationId }, 'documentIds is required.'],
      [{ organizationId, documentIds: [] }, 'documentIds must not be empty.'],
      [{ organizationId, documentIds: ids(501) }, 'documentIds must have at most 500 items.'],
      [{ organizationId, documentIds: ['d1', 1] }, 'documentIds[1] must be a string.'],
    ])
  })
})
