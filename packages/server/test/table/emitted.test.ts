import { operations, type Operation } from '@plenum/protocol'
import { describe, expect, onTestFinished, test } from 'vitest'
import * as given from '../support/given.ts'
import { type Store, startServer, stores, type TestServer, useServer } from '../support/harness.ts'

type Published = Parameters<TestServer['bus']['publish']>[0]
type AccessScope = Omit<Extract<Published, { kind: 'access' }>, 'kind' | 'apiKey'>

const document = { organizationId: 'o1', documentId: 'd1' }

test('[R9] every operation that may change access is a write with an API key', () => {
  const all = Object.values(operations).flatMap((family) =>
    Object.values(family as Record<string, Operation>),
  )
  const affecting = all.filter(({ changesAccess }) => changesAccess !== undefined)
  expect(affecting.length).toBeGreaterThan(10)
  for (const { effect, access } of affecting) expect([effect, access]).toEqual(['write', 'apiKey'])
})

describe.each(stores)('messages that operations publish to open sessions on %s', (store: Store) => {
  const server = useServer(store, { isOwn: true })

  /** Creates a tenant and collects all bus messages about it from now on. */
  const listening = async () => {
    const tenant = await given.tenant(server)
    const received: Omit<Published, 'apiKey'>[] = []
    const end = server.bus.subscribe(({ apiKey, ...message }) => {
      if (apiKey === tenant.apiKey) received.push(message)
    })
    onTestFinished(end)
    const isForLists = ({ kind }: Omit<Published, 'apiKey'>) => kind === 'documents' || kind === 'people'
    /** Returns the messages that were published since `news` was last called, without those for open lists. */
    const news = () => received.splice(0).filter((message) => !isForLists(message))
    const newsForLists = () => received.splice(0).filter(isForLists)
    return { ...tenant, news, newsForLists }
  }
  const access = (scope: AccessScope) => ({ kind: 'access', ...scope })

  test('[R20] a broadcast publishes the sequence number of the live state', async () => {
    const { client, news } = await listening()
    const state = { ...document, liveStateDataId: 'player' }
    for (const seq of [1, 2]) {
      await client.liveState.broadcast({ ...state, data: { seq } })
      expect(news()).toMatchObject([{ kind: 'liveState', ...document, seq }])
    }
  })

  test('[R20] presence operations publish the users whose entries changed or were removed', async () => {
    const { client, news } = await listening()
    await client.presence.add({ ...document, users: [{ userId: 'u1' }, { userId: 'u2' }] })
    expect(news()).toEqual([{ kind: 'presence', ...document, userIds: ['u1', 'u2'] }])
    await client.presence.update({
      ...document,
      users: [
        { userId: 'u2', status: 'away' },
        { userId: 'nobody', status: 'away' },
      ],
    })
    expect(news()).toEqual([{ kind: 'presence', ...document, userIds: ['u2'] }])
    await client.presence.delete({ ...document, userIds: ['u1', 'u2'] })
    expect(news()).toEqual([{ kind: 'presence', ...document, userIds: ['u1', 'u2'], removed: true }])
  })

  test('[R4.1] a REST write to an editor publishes a message only if the log of the editor grew', async () => {
    const { client, news } = await listening()
    const editor = { ...document, editorId: 'e1' }
    await client.crdt.add({ ...editor, type: 'text', data: 'one' })
    expect(news()).toEqual([{ kind: 'editor', ...editor }])
    await client.crdt.update({ ...editor, type: 'text', data: 'two' })
    expect(news()).toEqual([{ kind: 'editor', ...editor, row: expect.objectContaining({ seq: 2 }) }])
    await client.crdt.update({ ...editor, type: 'text', data: 'two' })
    await client.crdt.get(editor)
    expect(news()).toEqual([])
  })

  test('[R56] operations that create a document on the way, or change people, publish it for open lists', async () => {
    const { client, newsForLists } = await listening()
    const [organizationId, users] = ['o1', [{ userId: 'u1' }]]
    const creating: ((documentId: string) => Promise<unknown>)[] = [
      (documentId) =>
        client.liveState.broadcast({ organizationId, documentId, liveStateDataId: 's', data: {} }),
      (documentId) => client.presence.add({ organizationId, documentId, users }),
      (documentId) => client.crdt.add({ organizationId, documentId, editorId: 'e', type: 'text', data: '' }),
      (documentId) =>
        client.notifications.add({
          organizationId,
          documentId,
          createDocument: true,
          actionUser: { userId: 'u1' },
          displayHeadlineMessageTemplate: 'x',
          displayBodyMessage: 'x',
          notifyUsers: users,
          notifyAll: false,
        }),
      (documentId) =>
        client.commentAnnotations.add({
          organizationId,
          documentId,
          createDocument: true,
          commentAnnotations: [{ commentData: [{ commentText: 'x', from: { userId: 'u1' } }] }],
        }),
    ]
    for (const [index, create] of creating.entries()) {
      const documentIds = [`d${index}`]
      await create(`d${index}`)
      expect(newsForLists()).toEqual([{ kind: 'documents', organizationId, documentIds }])
    }
    await client.presence.add({ organizationId, documentId: 'd0', users })
    expect(newsForLists()).toEqual([])
    const people = { kind: 'people', organizationIds: ['o1'], userIds: ['u1'] }
    await client.users.add({ organizationId, documentId: 'new', createDocument: true, users })
    expect(newsForLists()).toEqual([{ kind: 'documents', organizationId, documentIds: ['new'] }, people])
    const resources = [{ type: 'folder' as const, id: 'f1', organizationId }]
    const changing: (() => Promise<unknown>)[] = [
      () => client.users.update({ organizationId, documentId: 'new', users }),
      () => client.users.delete({ organizationId, documentId: 'new', userIds: ['u1'] }),
      () => client.permissions.add({ userId: 'u1', permissions: { resources } }),
      () => client.permissions.remove({ userId: 'u1', permissions: { resources } }),
    ]
    for (const change of changing) {
      await change()
      expect([change.toString(), newsForLists()]).toEqual([change.toString(), [people]])
    }
  })

  test('[R37.6] version operations publish that a version was added or restored', async () => {
    const { client, news } = await listening()
    const editor = { ...document, editorId: 'e1' }
    await client.crdt.add({ ...editor, type: 'text', data: 'one' })
    news()
    const version = (await client.crdtVersions.add({ ...editor, name: 'first', userId: 'u1' })).data
    expect(news()).toEqual([{ kind: 'versionAdded', ...editor, version }])
    const { versionId } = version
    await client.crdtVersions.restore({ ...editor, versionId })
    expect(news()).toEqual([{ kind: 'versionRestored', ...editor, version }])
    await client.crdtVersions.restore({ ...editor, versionId: 'unknown' }).catch(() => {})
    await client.crdtVersions.get(editor)
    expect(news()).toEqual([])
  })

  test('[R9] deletions publish what was deleted: documents, the documents of a folder, or a whole organization', async () => {
    const tenant = await listening()
    const { client, news } = tenant
    await given.organization(tenant, 'o1')
    const organizationId = 'o1'
    const add = (documentId: string, folderId?: string) =>
      client.documents.add({ organizationId, documents: [{ documentId }], folderId })
    await client.folders.add({ organizationId, folders: [{ folderId: 'f1' }] })
    await client.folders.add({ organizationId, folders: [{ folderId: 'f2', parentFolderId: 'f1' }] })
    for (const [id, folder] of [['d1'], ['d2', 'f1'], ['d3', 'f2'], ['d4']] as const) await add(id, folder)
    news()
    await client.documents.delete({ organizationId, documentIds: ['d1', 'missing'] }).catch(() => {})
    expect(news()).toEqual([
      { kind: 'gone', organizationId, documentIds: ['d1'] },
      access({ organizationIds: ['o1'], documentIds: ['d1', 'missing'] }),
    ])
    await client.folders.delete({ organizationId, folderId: 'f1' })
    const [gone, ...more] = news() as [Extract<Published, { kind: 'gone' }>, ...unknown[]]
    expect({ ...gone, documentIds: gone.documentIds?.toSorted() }).toEqual({
      kind: 'gone',
      organizationId,
      documentIds: ['d2', 'd3'],
    })
    expect(more).toEqual([access({ organizationIds: ['o1'] })])
    await client.organizations.delete({ organizationIds: ['o1', 'missing'] })
    expect(news()).toEqual([{ kind: 'gone', organizationId }, access({ organizationIds: ['o1', 'missing'] })])
  })

  test('[R9] a migration publishes that its source is gone, that its target changed and that access changed', async () => {
    const { client, news } = await listening()
    await client.crdt.add({ ...document, editorId: 'e1', type: 'text', data: 'one' })
    news()
    const { data } = await client.documents.migrate({ ...document, newDocumentId: 'd2' })
    const status = async () =>
      (await client.documents.migrateStatus({ organizationId: 'o1', migrationId: data.migrationId })).data
    await expect.poll(status).toMatchObject({ status: 'completed' })
    await expect
      .poll(news)
      .toEqual([
        { kind: 'gone', organizationId: 'o1', documentIds: ['d1'], isMoved: true },
        { kind: 'changed', organizationId: 'o1', documentIds: ['d2'] },
        access({}),
      ])
  })

  test('[R9] a reset of an auth token publishes that credentials changed', async () => {
    const { client, news, apiKey } = await listening()
    await client.authTokens.reset({ apiKey })
    expect(news()).toEqual([{ kind: 'credentials' }])
  })

  test('[R9.3] domain operations publish that domains changed', async () => {
    const { client, news } = await listening()
    await client.domains.add({ domains: ['example.com'] })
    expect(news()).toEqual([{ kind: 'domains' }])
    await client.domains.delete({ domains: ['example.com'] })
    expect(news()).toEqual([{ kind: 'domains' }])
  })

  test('[R9] operations that may change access publish which users, documents or organizations are affected', async () => {
    const tenant = await listening()
    const { client, news } = tenant
    const organizationId = await given.organization(tenant, 'o1')
    await client.folders.add({ organizationId, folders: [{ folderId: 'f1' }, { folderId: 'f2' }] })
    expect(news()).toEqual([])
    const resource = { type: 'document', id: 'd1', organizationId } as const
    const toDocument = { organizationIds: ['o1'], documentIds: ['d1'] }
    const inOrganization = { organizationIds: ['o1'] }
    const ofUser = { userIds: ['u1'] }
    const calls: [scope: AccessScope, call: () => Promise<unknown>][] = [
      [toDocument, () => client.documents.add({ organizationId, documents: [{ documentId: 'd1' }] })],
      [toDocument, () => client.documents.update({ organizationId, documents: [{ documentId: 'd1' }] })],
      [toDocument, () => client.documents.move({ organizationId, documentIds: ['d1'], folderId: 'f1' })],
      [
        toDocument,
        () =>
          client.documents.updateAccess({ organizationId, documentIds: ['d1'], accessType: 'restricted' }),
      ],
      [
        toDocument,
        () => client.documents.updateDisableState({ organizationId, documentIds: ['d1'], disabled: true }),
      ],
      [
        inOrganization,
        () => client.folders.update({ organizationId, folders: [{ folderId: 'f1', parentFolderId: 'f2' }] }),
      ],
      [
        inOrganization,
        () => client.folders.updateAccess({ organizationId, folderIds: ['f1'], accessType: 'public' }),
      ],
      [ofUser, () => client.users.add({ ...document, users: [{ userId: 'u1' }] })],
      [ofUser, () => client.users.update({ ...document, users: [{ userId: 'u1', accessRole: 'viewer' }] })],
      [ofUser, () => client.users.delete({ ...document, userIds: ['u1'] })],
      [
        ofUser,
        () =>
          client.permissions.add({
            user: { userId: 'u1' },
            permissions: { resources: [{ ...resource, accessRole: 'editor' }] },
          }),
      ],
      [ofUser, () => client.permissions.remove({ userId: 'u1', permissions: { resources: [resource] } })],
      [{}, () => client.apiKeyConfig.update({ defaultDocumentAccessType: 'restricted' })],
      [
        inOrganization,
        () => client.organizations.updateDisableState({ organizationIds: ['o1'], disabled: true }),
      ],
    ]
    for (const [scope, call] of calls) {
      await call()
      expect([call.toString(), news()]).toEqual([call.toString(), [access(scope)]])
    }
  })

  test('[R20] failed and replayed calls publish no message', async () => {
    const { client, news, headers } = await listening()
    const state = { ...document, liveStateDataId: 'player' }
    const large = { text: 'x'.repeat(700_000) }
    await client.liveState.broadcast({ ...state, data: large })
    news()
    await expect(
      client.liveState.broadcast({ ...state, data: { more: large.text }, merge: true }),
    ).rejects.toMatchObject({ status: 'INVALID_ARGUMENT' })
    await expect(client.folders.delete({ organizationId: 'o1', folderId: 'missing' })).rejects.toThrow()
    expect(news()).toEqual([])

    const body = { data: { organizationId: 'o1', documentIds: ['d1'] } }
    const once = { ...headers, 'idempotency-key': 'once' }
    await server.post('/v1/organizations/documents/delete', body, once)
    expect(news()).toHaveLength(2)
    await server.post('/v1/organizations/documents/delete', body, once)
    expect(news()).toEqual([])
  })
})

test('[R20] an operation publishes its messages after its commit is durable and before it answers the caller', async () => {
  const order: string[] = []
  let held: (() => void) | undefined
  let holding = false
  const server = await startServer('sqlite', {
    sync: (_fd, done) => {
      const synced = () => {
        order.push('synced')
        done(null)
      }
      if (holding) held = synced
      else synced()
    },
  })
  onTestFinished(async () => {
    holding = false
    held?.()
    await server.stop()
  })
  const tenant = await given.tenant(server)
  const { client } = tenant
  const organizationId = await given.organization(tenant)
  await client.documents.add({ organizationId, documents: [{ documentId: 'd1' }] })
  server.bus.subscribe(({ kind }) => order.push(kind))
  order.length = 0
  holding = true
  const answered = client.documents
    .delete({ organizationId, documentIds: ['d1'] })
    .then(() => order.push('answered'))
  await expect.poll(async () => (await client.documents.get({ organizationId })).data).toEqual([])
  expect(order).toEqual([])
  held?.()
  held = undefined
  await answered
  expect(order).toEqual(['synced', 'gone', 'access', 'answered'])
})
