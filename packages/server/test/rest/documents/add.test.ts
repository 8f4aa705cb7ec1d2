import { describe, expect, test } from 'vitest'
import * as given from '../../support/given.ts'
import { stores, useServer } from '../../support/harness.ts'
import { documentCalls, ids, internalId, organizationId, plain, refused, v1 } from './calls.ts'

describe.each(stores)('documents.add on %s', (store) => {
  const server = useServer(store)
  const { tenantWithOrganization, add, all, one, post, refuseAll } = documentCalls(server)

  test('[10.1] add returns the internal id of each document and stores its custom keys', async () => {
    const tenant = await tenantWithOrganization()
    expect(
      await tenant.client.documents.add({
        organizationId,
        documents: [
          { documentId: 'd1', documentName: 'Doc', project: { id: 7 }, gone: null },
          { documentId: 'd2', accessType: 'restricted' },
        ],
      }),
    ).toEqual({
      message: 'Document(s) added successfully.',
      data: {
        d1: { success: true, id: internalId, message: 'Added Successfully' },
        d2: { success: true, id: internalId, message: 'Added Successfully' },
      },
    })
    expect(await all(tenant)).toEqual([
      { ...plain, id: 'd1', documentId: 'd1', documentName: 'Doc', project: { id: 7 } },
      { ...plain, id: 'd2', documentId: 'd2', accessType: 'restricted' },
    ])
  })

  test('[10.1] add and update ignore fields that only the server sets', async () => {
    const tenant = await tenantWithOrganization()
    const documents = [
      {
        documentId: 'd1',
        id: 'x',
        organizationId: 'x',
        folderId: 'x',
        disabled: true,
        locations: {},
        createdAt: 1,
        lastUpdated: 1,
        constructor: 'kept',
      },
    ]
    await tenant.client.documents.add({ organizationId, documents })
    expect(await all(tenant)).toEqual([{ ...plain, id: 'd1', documentId: 'd1', constructor: 'kept' }])
    expect((await one(tenant, 'd1'))?.createdAt).toBeGreaterThan(1)
    await tenant.client.documents.update({ organizationId, documents })
    expect(await all(tenant)).toEqual([{ ...plain, id: 'd1', documentId: 'd1', constructor: 'kept' }])
  })

  test('[10.1] [0.4.1] v2 add fails when one document already exists, and adds the others', async () => {
    const tenant = await tenantWithOrganization()
    await tenant.client.documents.add({
      organizationId,
      documents: [{ documentId: 'old', documentName: 'Old' }],
    })
    const documents = [
      { documentId: 'new', documentName: 'First' },
      { documentId: 'old', documentName: 'New' },
      { documentId: 'new', documentName: 'Second' },
    ]
    expect(await post(tenant, 'add', { organizationId, documents })).toEqual({
      status: 500,
      body: {
        error: {
          status: 'INTERNAL',
          message: 'Error adding document(s).',
          details: {
            new: { success: true, id: internalId, message: 'Added Successfully' },
            old: { success: false, id: 'old', message: 'Document already exists', code: 'already-exists' },
          },
        },
      },
    })
    expect((await all(tenant)).map((document) => document.documentName)).toEqual(['Old', 'First'])
  })

  test('[10.1] v1 add returns success when one document already exists, and adds the others', async () => {
    const tenant = await tenantWithOrganization()
    await add(tenant, ['old'])
    const documents = [{ documentId: 'old' }, { documentId: 'new' }]
    expect(await tenant.client.documents.add({ organizationId, documents }, v1)).toEqual({
      message: 'Document(s) added successfully.',
      data: {
        old: { success: false, id: 'old', message: 'Document already exists', code: 'already-exists' },
        new: { success: true, id: internalId, message: 'Added Successfully' },
      },
    })
  })

  test('[10.1] [0.8] add requires the organization and the folder, unless a v2 call may create them', async () => {
    const tenant = await given.tenant(server)
    const documents = [{ documentId: 'd1' }]
    const withFolder = { organizationId, folderId: 'f1', documents }
    const create = { createOrganization: true, createFolder: true }
    expect(await post(tenant, 'add', withFolder)).toEqual(refused('Organization does not exist.'))
    expect(await post(tenant, 'add', { ...withFolder, createOrganization: true })).toEqual(
      refused('Folder does not exist.'),
    )
    expect(await post(tenant, 'add', { ...withFolder, ...create }, 'v1')).toEqual(
      refused('Organization does not exist.'),
    )
    expect((await tenant.client.organizations.get()).data).toEqual([])
    expect(await tenant.client.documents.add({ ...withFolder, ...create })).toMatchObject({
      message: 'Document(s) added successfully.',
    })
    expect(await all(tenant)).toEqual([{ ...plain, id: 'd1', documentId: 'd1', folderId: 'f1' }])
    expect((await tenant.client.folders.get({ organizationId })).data).toMatchObject([
      { folderId: 'f1', folderName: 'f1', parentFolderId: 'root' },
    ])
  })

  test('[10.1] add with the folder root puts the document at the top level and creates no folder', async () => {
    const tenant = await tenantWithOrganization()
    await tenant.client.documents.add({
      organizationId,
      folderId: 'root',
      createFolder: true,
      documents: [{ documentId: 'd1' }],
    })
    expect(await all(tenant)).toEqual([{ ...plain, id: 'd1', documentId: 'd1' }])
    expect((await tenant.client.folders.get({ organizationId })).data).toEqual([])
  })

  test('[10.1] if several concurrent calls add the same document, one adds it and the others report that it exists', async () => {
    const tenant = await tenantWithOrganization()
    const input = { organizationId, documents: [{ documentId: 'd1' }] }
    const answers = await Promise.all([1, 2, 3].map(() => tenant.client.documents.add(input, v1)))
    expect(answers.map(({ data }) => data.d1?.message).sort()).toEqual([
      'Added Successfully',
      'Document already exists',
      'Document already exists',
    ])
  })

  test('[10.1] [0.7.5] add accepts 500 documents in one call, also with unusual ids', async () => {
    const tenant = await tenantWithOrganization()
    const many = ['__proto__', 'constructor', 'ünï 😀', ...ids(497)]
    const { data } = await add(tenant, many)
    expect(Object.keys(data).sort()).toEqual([...many].sort())
    expect((await all(tenant)).map((document) => document.id).sort()).toEqual([...many].sort())
  })

  test('[10.1] [0.4.3] [0.3] add refuses an invalid body and adds nothing', async () => {
    const tenant = await tenantWithOrganization()
    const documents = [{ documentId: 'd1' }]
    await refuseAll(tenant, 'add', [
      [{ documents }, 'organizationId is required.'],
      [{ organizationId }, 'documents is required.'],
      [{ organizationId, documents: [] }, 'documents must not be empty.'],
      [
        { organizationId, documents: ids(501).map((documentId) => ({ documentId })) },
        'documents must have at most 500 items.',
      ],
      [{ organizationId, documents: [...documents, {}] }, 'documents[1].documentId is required.'],
      [{ organizationId, documents: [{ documentId: ' ' }] }, 'documents[0].documentId is required.'],
      [
        { organizationId, documents: [{ documentId: 'a\nb' }] },
        'documents[0].documentId must not contain control characters and must not be "." or "..".',
      ],
      [
        { organizationId, documents: [{ documentId: 'd1', documentName: 1 }] },
        'documents[0].documentName must be a string.',
      ],
      [
        { organizationId, documents: [{ documentId: 'd1', accessType: 'secret' }] },
        'documents[0].accessType must be one of: public, restricted, organizationPrivate.',
      ],
      [{ organizationId, documents, folderId: 1 }, 'folderId must be a string.'],
      [{ organizationId, documents, createFolder: 1 }, 'createFolder must be a boolean.'],
      [{ organizationId, documents, folderId: 'nowhere' }, 'Folder does not exist.'],
    ])
  })
})
