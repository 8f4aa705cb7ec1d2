import type { Document } from '@plenum/protocol'
import { describe, expect, test } from 'vitest'
import * as given from '../../support/given.ts'
import { stores, useServer } from '../../support/harness.ts'

const v1 = { version: 'v1' } as const
const internalId = expect.stringMatching(/^\d{16}$/)
const times = { createdAt: expect.any(Number), lastUpdated: expect.any(Number) }
const plain = { disabled: false, accessType: 'public', ...times }

const refused = (message: string, status = 'INVALID_ARGUMENT') => ({
  status: 400,
  body: { error: { status, message } },
})
const ids = (length: number) => Array.from({ length }, (_, index) => `d${index}`)
const missing = (id: string) => ({
  success: false,
  id,
  message: 'Document does not exist',
  code: 'not-found',
})

describe.each(stores)('documents on %s', (store) => {
  const server = useServer(store)
  const organizationId = 'o1'

  const tenantWithOrganization = async () => {
    const tenant = await given.tenant(server)
    await given.organization(tenant, organizationId)
    return tenant
  }
  const add = ({ client }: given.Tenant, ids: string[], folderId?: string) =>
    client.documents.add({ organizationId, folderId, documents: ids.map((documentId) => ({ documentId })) })
  const addFolders = (
    { client }: given.Tenant,
    folders: Parameters<typeof client.folders.add>[0]['folders'],
  ) => client.folders.add({ organizationId, folders })
  const all = async ({ client }: given.Tenant) => (await client.documents.get({ organizationId })).data
  const one = async (tenant: given.Tenant, id: string) =>
    (await all(tenant)).find((document) => document.id === id)
  const post = async ({ headers }: given.Tenant, verb: string, data: unknown, version = 'v2') => {
    const { status, body } = await server.post(
      `/${version}/organizations/documents/${verb}`,
      { data },
      headers,
    )
    return { status, body }
  }
  /** Each fault is refused, and what was there stays as it was. */
  const refuseAll = async (
    tenant: given.Tenant,
    verb: string,
    faults: [Record<string, unknown>, string][],
  ) => {
    const before = await all(tenant)
    for (const [data, message] of faults) {
      expect(await post(tenant, verb, data), message).toEqual(refused(message))
    }
    expect(await all(tenant)).toEqual(before)
  }

  describe('add', () => {
    test('[10.1] answers the internal id of each document and keeps its own keys', async () => {
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
        { ...plain, id: 'd1', documentName: 'Doc', project: { id: 7 } },
        { ...plain, id: 'd2', accessType: 'restricted' },
      ])
    })

    test('[10.1] fields that are not the caller’s to set are not kept', async () => {
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
      expect(await all(tenant)).toEqual([{ ...plain, id: 'd1', constructor: 'kept' }])
      expect((await one(tenant, 'd1'))?.createdAt).toBeGreaterThan(1)
      await tenant.client.documents.update({ organizationId, documents })
      expect(await all(tenant)).toEqual([{ ...plain, id: 'd1', constructor: 'kept' }])
    })

    test('[10.1] [0.4.1] v2 fails when one exists already, and adds the others', async () => {
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

    test('[10.1] v1 answers success for the same', async () => {
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

    test('[10.1] [0.8] needs the organization and the folder, unless v2 may create them', async () => {
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
      expect(await all(tenant)).toEqual([{ ...plain, id: 'd1', folderId: 'f1' }])
      expect((await tenant.client.folders.get({ organizationId })).data).toMatchObject([
        { folderId: 'f1', folderName: 'f1', parentFolderId: 'root' },
      ])
    })

    test('[10.1] root is no folder', async () => {
      const tenant = await tenantWithOrganization()
      await tenant.client.documents.add({
        organizationId,
        folderId: 'root',
        createFolder: true,
        documents: [{ documentId: 'd1' }],
      })
      expect(await all(tenant)).toEqual([{ ...plain, id: 'd1' }])
      expect((await tenant.client.folders.get({ organizationId })).data).toEqual([])
    })

    test('[10.1] of calls that add the same document at once one succeeds', async () => {
      const tenant = await tenantWithOrganization()
      const input = { organizationId, documents: [{ documentId: 'd1' }] }
      const answers = await Promise.all([1, 2, 3].map(() => tenant.client.documents.add(input, v1)))
      expect(answers.map(({ data }) => data.d1?.message).sort()).toEqual([
        'Added Successfully',
        'Document already exists',
        'Document already exists',
      ])
    })

    test('[10.1] adds 500 documents in one call, whatever their ids', async () => {
      const tenant = await tenantWithOrganization()
      const many = ['__proto__', 'constructor', 'ünï 😀', ...ids(497)]
      const { data } = await add(tenant, many)
      expect(Object.keys(data).sort()).toEqual([...many].sort())
      expect((await all(tenant)).map((document) => document.id).sort()).toEqual([...many].sort())
    })

    test('[10.1] [0.4.3] refuses what has the wrong shape and adds nothing', async () => {
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

  describe('get', () => {
    test('[10.2] returns the type in force: the own one, else the folder’s, else the default of the key', async () => {
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

    test('[10.2] returns documents by id, and the direct members of a folder', async () => {
      const tenant = await tenantWithOrganization()
      await addFolders(tenant, [{ folderId: 'f1' }, { folderId: 'f2', parentFolderId: 'f1' }])
      await add(tenant, ['a'])
      await add(tenant, ['b'], 'f1')
      await add(tenant, ['c'], 'f2')
      const get = async (input: { documentIds?: string[]; folderId?: string }) =>
        (await tenant.client.documents.get({ organizationId, ...input })).data.map((document) => document.id)
      expect(await tenant.client.documents.get({ organizationId, documentIds: ['b'] })).toEqual({
        message: 'Document(s) retrieved successfully.',
        data: [{ ...plain, id: 'b', folderId: 'f1' }],
      })
      expect(await get({ documentIds: ['c', 'a', 'c'] })).toEqual(['a', 'c'])
      expect(await get({ documentIds: [] })).toEqual([])
      expect(await get({ folderId: 'f1' })).toEqual(['b'])
      expect(await get({ folderId: 'root' })).toEqual(['a'])
      expect(await get({ folderId: 'nowhere' })).toEqual([])
      expect(await get({ folderId: 'f2', documentIds: ['c'] })).toEqual(['c'])
      expect((await tenant.client.documents.get({ organizationId: 'nowhere' })).data).toEqual([])
    })

    test('[10.2] v2 fails when a requested id does not exist, with everything found in the order of the request', async () => {
      const tenant = await tenantWithOrganization()
      await addFolders(tenant, [{ folderId: 'f1' }])
      await add(tenant, ['a', 'b'])
      expect(await post(tenant, 'get', { organizationId, documentIds: ['b', 'x', 'a', 'x'] })).toEqual({
        status: 500,
        body: {
          error: {
            status: 'INTERNAL',
            message: 'Error retrieving document(s).',
            details: [{ ...plain, id: 'b' }, missing('x'), { ...plain, id: 'a' }],
          },
        },
      })
      const elsewhere = await post(tenant, 'get', { organizationId, folderId: 'f1', documentIds: ['a'] })
      expect(elsewhere.body.error.details).toEqual([missing('a')])
    })

    test('[10.2] v1 leaves out what does not exist and knows neither folders nor pages', async () => {
      const tenant = await tenantWithOrganization()
      await add(tenant, ['a', 'b'])
      const get = async (input: Omit<Parameters<typeof tenant.client.documents.get>[0], 'organizationId'>) =>
        tenant.client.documents.get({ organizationId, ...input }, v1)
      expect((await get({ documentIds: ['b', 'x'] })).data).toEqual([{ ...plain, id: 'b' }])
      const every = await get({ folderId: 'nowhere', pageSize: 1 })
      expect(every).toEqual({
        message: 'Document(s) retrieved successfully.',
        data: [
          { ...plain, id: 'a' },
          { ...plain, id: 'b' },
        ],
      })
    })

    test('[10.2] pages lead through every document once, under both names of the token', async () => {
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

    test('[10.2] refuses what has the wrong shape', async () => {
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

    test('[0.9] get needs the advanced queries of the API key', async () => {
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

  describe('update', () => {
    test('[10.3] merges the sent keys; null removes one', async () => {
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

    test('[10.3] v2 fails when one does not exist, and changes the others; v1 answers success', async () => {
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
      expect(await all(tenant)).toEqual([{ ...plain, id: 'd1', documentName: 'twice' }])
    })

    test('[10.3] refuses what has the wrong shape and changes nothing', async () => {
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

  describe('delete', () => {
    test('[10.4] deletes documents, v2 fails when one does not exist, v1 answers success', async () => {
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
      expect(await post(tenant, 'delete', { organizationId, documentIds: ['d1', 'd0', 'd1'] })).toMatchObject(
        {
          status: 500,
          body: {
            error: { status: 'INTERNAL', message: 'Error deleting document(s).', details: outcomes('d1') },
          },
        },
      )
      expect(await tenant.client.documents.delete({ organizationId, documentIds: ['d2', 'd0'] }, v1)).toEqual(
        {
          message: 'Document(s) deleted successfully.',
          data: outcomes('d2'),
        },
      )
      expect((await all(tenant)).map((document) => document.id)).toEqual(['d3'])
    })

    test('[10.4] takes everything inside along: content, notifications, their settings and grants', async () => {
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

    test('[10.4] refuses what has the wrong shape and deletes nothing', async () => {
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

  describe('move', () => {
    test('[10.5] moves documents into a folder and out of it; inherited access follows', async () => {
      const tenant = await tenantWithOrganization()
      await addFolders(tenant, [{ folderId: 'shut', accessType: 'restricted' }])
      await add(tenant, ['d1', 'd2'])
      const move = (folderId: string) =>
        tenant.client.documents.move({ organizationId, documentIds: ['d1', 'd1'], folderId })
      expect(await move('shut')).toEqual({ message: 'Documents moved successfully.', data: null })
      expect(await all(tenant)).toEqual([
        { ...plain, id: 'd1', folderId: 'shut', accessType: 'restricted' },
        { ...plain, id: 'd2' },
      ])
      await move('root')
      expect(await one(tenant, 'd1')).toEqual({ ...plain, id: 'd1' })
    })

    test('[10.5] moves all or none, also under v1', async () => {
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

  test('[10.6] updateAccess gives documents a type of their own', async () => {
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

  test('[10.7] updateDisableState shuts documents and opens them again, and creates none', async () => {
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
      expect(await all(tenant)).toEqual([{ ...plain, id: 'd1', disabled }])
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

  test('[0.2.1] documents of two API keys and of two organizations have nothing to do with each other', async () => {
    const [mine, other] = [await tenantWithOrganization(), await tenantWithOrganization()]
    await given.organization(mine, 'o2')
    await addFolders(mine, [{ folderId: 'f1' }])
    await add(mine, ['d1'], 'f1')
    const before = await all(mine)
    expect(await all(other)).toEqual([])

    const theirs = [
      { client: other.client, organizationId },
      { client: mine.client, organizationId: 'o2' },
    ]
    for (const { client, organizationId } of theirs) {
      await client.documents.update({ organizationId, documents: [{ documentId: 'd1', a: 1 }] }, v1)
      await client.documents.updateAccess({ organizationId, documentIds: ['d1'], accessType: 'restricted' })
      await client.documents.updateDisableState({ organizationId, documentIds: ['d1'], disabled: true })
      await client.documents.delete({ organizationId, documentIds: ['d1'] }, v1)
      await client.documents.add({ organizationId, documents: [{ documentId: 'd1' }] })
      await expect(
        client.documents.move({ organizationId, documentIds: ['d1'], folderId: 'f1' }),
      ).rejects.toMatchObject({ message: 'Folder does not exist.' })
      await expect(
        client.documents.add({ organizationId, folderId: 'f1', documents: [{ documentId: 'd2' }] }),
      ).rejects.toMatchObject({ message: 'Folder does not exist.' })
    }
    expect(await all(mine)).toEqual(before)
  })
})
