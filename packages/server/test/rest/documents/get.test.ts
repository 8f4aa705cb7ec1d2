import type { Document } from '@plenum/protocol'
import { describe, expect, test } from 'vitest'
import { stores, useServer } from '../../support/harness.ts'
import { documentCalls, ids, missing, organizationId, plain, refused, v1 } from './calls.ts'

describe.each(stores)('documents.get on %s', (store) => {
  const server = useServer(store)
  const { tenantWithOrganization, add, addFolders, all, post, refuseAll } = documentCalls(server)

  test('[10.2] get returns the effective access type: the document’s own, else the folder’s, else the default of the key', async () => {
    const tenant = await tenantWithOrganization()
    await addFolders(tenant, [
      { folderId: 'shut', accessType: 'restricted' },
      { folderId: 'inner', parentFolderId: 'shut' },
    ])
    await add(tenant, ['free'])
    await add(tenant, ['inherits'], 'inner')
    await tenant.client.documents.add({
      organizationId,
      folderId: 'inner',
      documents: [{ documentId: 'own', accessType: 'public' }],
    })
    await tenant.client.apiKeyConfig.update({ defaultDocumentAccessType: 'organizationPrivate' })
    const types = Object.fromEntries((await all(tenant)).map(({ id, accessType }) => [id, accessType]))
    expect(types).toEqual({ free: 'organizationPrivate', inherits: 'restricted', own: 'public' })
  })

  test('[10.2.1] get returns the id of a document also as documentId, under both versions', async () => {
    const tenant = await tenantWithOrganization()
    await add(tenant, ['a'])
    for (const version of ['v1', 'v2'] as const) {
      const { data } = await tenant.client.documents.get({ organizationId }, { version })
      expect(data.map(({ id, documentId }) => [id, documentId])).toEqual([['a', 'a']])
    }
    // What was read can be sent back.
    const [read] = await all(tenant)
    await tenant.client.documents.update({ organizationId, documents: [{ ...read!, documentName: 'A' }] })
    expect(await all(tenant)).toMatchObject([{ id: 'a', documentName: 'A' }])
  })

  test('[10.2] get returns documents by id, or the documents directly in a folder', async () => {
    const tenant = await tenantWithOrganization()
    await addFolders(tenant, [{ folderId: 'f1' }, { folderId: 'f2', parentFolderId: 'f1' }])
    await add(tenant, ['a'])
    await add(tenant, ['b'], 'f1')
    await add(tenant, ['c'], 'f2')
    const get = async (input: { documentIds?: string[]; folderId?: string }) =>
      (await tenant.client.documents.get({ organizationId, ...input })).data.map((document) => document.id)
    expect(await tenant.client.documents.get({ organizationId, documentIds: ['b'] })).toEqual({
      message: 'Document(s) retrieved successfully.',
      data: [{ ...plain, id: 'b', documentId: 'b', folderId: 'f1' }],
    })
    expect(await get({ documentIds: ['c', 'a', 'c'] })).toEqual(['a', 'c'])
    expect(await get({ documentIds: [] })).toEqual([])
    expect(await get({ folderId: 'f1' })).toEqual(['b'])
    expect(await get({ folderId: 'root' })).toEqual(['a'])
    expect(await get({ folderId: 'nowhere' })).toEqual([])
    expect(await get({ folderId: 'f2', documentIds: ['c'] })).toEqual(['c'])
    expect((await tenant.client.documents.get({ organizationId: 'nowhere' })).data).toEqual([])
  })

  test('[10.2] [0.4.1] v2 get fails when a requested id does not exist, with the found documents in request order', async () => {
    const tenant = await tenantWithOrganization()
    await addFolders(tenant, [{ folderId: 'f1' }])
    await add(tenant, ['a', 'b'])
    expect(await post(tenant, 'get', { organizationId, documentIds: ['b', 'x', 'a', 'x'] })).toEqual({
      status: 500,
      body: {
        error: {
          status: 'INTERNAL',
          message: 'Error retrieving document(s).',
          details: [
            { ...plain, id: 'b', documentId: 'b' },
            missing('x'),
            { ...plain, id: 'a', documentId: 'a' },
          ],
        },
      },
    })
    const elsewhere = await post(tenant, 'get', { organizationId, folderId: 'f1', documentIds: ['a'] })
    expect(elsewhere.body.error.details).toEqual([missing('a')])
  })

  test('[10.2] v1 get leaves out missing documents and ignores folders and pages', async () => {
    const tenant = await tenantWithOrganization()
    await add(tenant, ['a', 'b'])
    const get = async (input: Omit<Parameters<typeof tenant.client.documents.get>[0], 'organizationId'>) =>
      tenant.client.documents.get({ organizationId, ...input }, v1)
    expect((await get({ documentIds: ['b', 'x'] })).data).toEqual([{ ...plain, id: 'b', documentId: 'b' }])
    const every = await get({ folderId: 'nowhere', pageSize: 1 })
    expect(every).toEqual({
      message: 'Document(s) retrieved successfully.',
      data: [
        { ...plain, id: 'a', documentId: 'a' },
        { ...plain, id: 'b', documentId: 'b' },
      ],
    })
  })

  test('[10.2] [0.5] pages contain every document once, and the page token is in pageToken and in nextPageToken', async () => {
    const tenant = await tenantWithOrganization()
    await addFolders(tenant, [{ folderId: 'f1' }])
    await add(tenant, ids(25), 'f1')
    await add(tenant, ['outside'])
    const seen: Document[] = []
    let pageToken: string | undefined
    do {
      const page = await tenant.client.documents.get({
        organizationId,
        folderId: 'f1',
        pageSize: 10,
        pageToken,
      })
      seen.push(...page.data)
      expect(page.pageToken).toBe(page.nextPageToken)
      pageToken = page.pageToken
    } while (pageToken !== undefined)
    expect(seen.map((document) => document.id)).toEqual(ids(25).sort())

    const first = await tenant.client.documents.get({ organizationId, pageSize: 1 })
    const other = { organizationId, folderId: 'f1', pageToken: first.nextPageToken }
    expect(await post(tenant, 'get', other)).toEqual(refused('Invalid page token.'))
  })

  test('[10.2] [0.3] get refuses an invalid body', async () => {
    const tenant = await tenantWithOrganization()
    await refuseAll(tenant, 'get', [
      [{}, 'organizationId is required.'],
      [{ organizationId, documentIds: ids(31) }, 'documentIds must have at most 30 items.'],
      [{ organizationId, documentIds: 'd1' }, 'documentIds must be an array.'],
      [{ organizationId, documentIds: [' '] }, 'documentIds[0] is required.'],
      [{ organizationId, pageSize: 0 }, 'pageSize must be an integer between 1 and 1000.'],
      [{ organizationId, pageToken: 'x' }, 'Invalid page token.'],
    ])
  })

  test('[0.9] get requires advanced queries to be enabled for the API key', async () => {
    const tenant = await tenantWithOrganization()
    await tenant.client.apiKeyConfig.update({ useAdvancedQueries: false })
    expect(await post(tenant, 'get', { organizationId })).toEqual(
      refused(
        'Advanced queries are not enabled for this API key. Set useAdvancedQueries to true with /v2/workspace/apikeyconfig/update.',
        'FAILED_PRECONDITION',
      ),
    )
  })
})
