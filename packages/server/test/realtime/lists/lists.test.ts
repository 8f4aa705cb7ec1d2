import { limits } from '@plenum/protocol/realtime'
import { describe, expect, test } from 'vitest'
import { interruptibleNetwork, plenumConnection } from '../../support/clients/plenum-client.ts'
import { RealtimeSocket } from '../../support/clients/realtime-socket.ts'
import * as given from '../../support/given.ts'
import { stores, useServer } from '../../support/harness.ts'
import { tokenFor } from '../../support/access/user-tokens.ts'

const organizationId = 'org_1'
const organization = { type: 'organization', id: organizationId } as const

describe.each(stores)('live lists on %s', (store) => {
  const server = useServer(store)

  async function scene() {
    const tenant = await given.tenant(server)
    await given.organization(tenant)
    await tenant.client.apiKeyConfig.update({ defaultDocumentAccessType: 'organizationPrivate' })
    const addDocument = (documentId: string, fields: object = {}) =>
      tenant.client.documents.add({
        organizationId,
        documents: [{ documentId, documentName: documentId, ...fields }],
      })
    const connect = async (userId: string, options: object = {}) =>
      plenumConnection(tenant.client, await tokenFor(tenant, userId), options)
    return { ...tenant, addDocument, connect }
  }

  /** Subscribes to the list, and waits until it is loaded. */
  async function opened<L extends { isLoading: boolean; subscribe(listener: () => void): unknown }>(list: L) {
    list.subscribe(() => {})
    await expect.poll(() => list.isLoading).toBe(false)
    return list
  }

  test('[K19] [R56] a client learns of documents that are added, created by opening, renamed and deleted', async () => {
    const { client, addDocument, connect } = await scene()
    await addDocument('first')
    const ada = await connect('ada')
    const list = await opened(ada.documents(organizationId))
    const names = () => list.items.map(({ documentName, documentId }) => documentName ?? documentId)
    expect(names()).toEqual(['first'])
    await addDocument('second')
    await expect.poll(names).toEqual(['second', 'first'])
    const bob = await connect('bob')
    const document = bob.document(organizationId, 'third')
    await expect.poll(() => document.status).toBe('connected')
    await expect.poll(names).toEqual(['third', 'second', 'first'])
    await client.documents.update({
      organizationId,
      documents: [{ documentId: 'first', documentName: 'Plan' }],
    })
    await expect.poll(names).toEqual(['third', 'second', 'Plan'])
    await client.documents.delete({ organizationId, documentIds: ['second'] })
    await expect.poll(names).toEqual(['third', 'Plan'])
  })

  test('[K19] [R56] a client learns of access that is lost and given, by its grants, the document, a folder or the organization', async () => {
    const { client, addDocument, connect } = await scene()
    await addDocument('open')
    await client.folders.add({ organizationId, folders: [{ folderId: 'f1' }] })
    await addDocument('moved')
    const list = await opened((await connect('ada')).documents(organizationId))
    const roles = () =>
      Object.fromEntries(list.items.map(({ documentId, accessRole }) => [documentId, accessRole]))
    const both = { open: 'editor', moved: 'editor' }
    expect(roles()).toEqual(both)

    const documentIds = ['open']
    await client.documents.updateAccess({ organizationId, documentIds, accessType: 'restricted' })
    await expect.poll(roles).toEqual({ moved: 'editor' })
    const onOpen = { type: 'document', id: 'open', organizationId, accessRole: 'viewer' } as const
    await client.permissions.add({ userId: 'ada', permissions: { resources: [onOpen] } })
    await expect.poll(roles).toEqual({ open: 'viewer', moved: 'editor' })
    await client.documents.move({ organizationId, documentIds: ['moved'], folderId: 'f1' })
    await client.folders.updateAccess({ organizationId, folderIds: ['f1'], accessType: 'restricted' })
    await expect.poll(roles).toEqual({ open: 'viewer' })
    await client.folders.updateAccess({ organizationId, folderIds: ['f1'], accessType: 'public' })
    await expect.poll(roles).toEqual({ open: 'viewer', moved: 'editor' })
    const organizationIds = [organizationId]
    await client.organizations.updateDisableState({ organizationIds, disabled: true })
    await expect.poll(roles).toEqual({})
    await client.organizations.updateDisableState({ organizationIds, disabled: false })
    await expect.poll(roles).toEqual({ open: 'viewer', moved: 'editor' })
  })

  test('[K19] [R56] a client learns of people who join, change their name and leave', async () => {
    const { client, connect } = await scene()
    const list = await opened((await connect('ada')).people(organizationId))
    const people = () => Object.fromEntries(list.items.map(({ userId, name }) => [userId, name]))
    await expect.poll(people).toEqual({ ada: 'Name of ada' })
    await client.users.add({ organizationId, users: [{ userId: 'bob', name: 'Bob' }] })
    await expect.poll(people).toEqual({ ada: 'Name of ada', bob: 'Bob' })
    const grace = await connect('grace')
    grace.reconnect()
    await expect.poll(people).toEqual({ ada: 'Name of ada', bob: 'Bob', grace: 'Name of grace' })
    await client.users.update({ organizationId, users: [{ userId: 'bob', name: 'Robert' }] })
    await expect.poll(people).toMatchObject({ bob: 'Robert' })
    await client.permissions.remove({ userId: 'bob', permissions: { resources: [organization] } })
    await expect.poll(people).toEqual({ ada: 'Name of ada', grace: 'Name of grace' })
    await client.users.delete({ organizationId, userIds: ['ada'] })
    await expect.poll(() => list.error?.status).toBe('PERMISSION_DENIED')
  })

  test('[K19.1] a list is complete again after the connection was lost, and loads further pages on demand', async () => {
    const { addDocument, connect } = await scene()
    for (let i = 0; i < 55; i++) await addDocument(`d${i}`)
    const network = interruptibleNetwork()
    const ada = await connect('ada', { WebSocket: network.WebSocket })
    const list = await opened(ada.documents(organizationId))
    expect([list.items.length, list.hasMore]).toEqual([50, true])
    await list.loadMore()
    expect([list.items.length, list.hasMore]).toEqual([55, false])
    network.cut()
    await addDocument('while away')
    network.restore(ada)
    await expect.poll(() => [list.items.length, list.items[0]?.documentId]).toEqual([55, 'while away'])
    await list.loadMore()
    expect([list.items.length, list.hasMore]).toEqual([56, false])
  })

  test('[R56] [R56.3] the server names no document that the user may not see, and tells nothing of it while the client has read no document', async () => {
    const { addDocument, client, ...tenant } = await scene()
    const ada = await RealtimeSocket.connect(server, await tokenFor({ client, ...tenant }, 'ada'))
    ada.send({ type: 'openList', id: 1, organizationId, list: 'documents' })
    await ada.take('done')
    const about = { type: 'listChanged', organizationId, list: 'documents', reset: false } as const
    await addDocument('secret', { accessType: 'restricted' })
    await addDocument('plan')
    // Both are told at once, or only the second one.
    expect(await ada.take('listChanged')).toMatchObject({ ...about, items: [{ documentId: 'plan' }] })
    const documentIds = ['secret']
    await client.documents.update({
      organizationId,
      documents: [{ documentId: 'secret', documentName: 'x' }],
    })
    expect(await ada.take('listChanged')).toEqual({ ...about, items: [], recheck: true })
    await client.documents.updateAccess({ organizationId, documentIds, accessType: 'organizationPrivate' })
    expect(await ada.take('listChanged')).toMatchObject({ items: [{ documentId: 'secret' }], recheck: false })
  })

  test('[R56.3] a stranger does not learn when documents and people of an organization change, until one may be seen', async () => {
    const { addDocument, client, ...tenant } = await scene()
    const token = await tokenFor({ client, ...tenant }, 'eve', { resources: [] })
    const [eve, ada] = [
      await RealtimeSocket.connect(server, token),
      await RealtimeSocket.connect(server, await tokenFor({ client, ...tenant }, 'ada')),
    ]
    for (const list of ['documents', 'people'] as const) {
      for (const socket of [eve, ada]) {
        socket.send({ type: 'openList', id: 1, organizationId, list })
        await socket.take('done')
      }
    }
    const told = async () => (await ada.take('listChanged')).list
    for (let i = 0; i < 2; i++) {
      await addDocument(`d${i}`)
      expect(await told()).toBe('documents')
    }
    await client.users.add({ organizationId, users: [{ userId: 'bob' }] })
    expect(await told()).toBe('people')
    await client.documents.delete({ organizationId, documentIds: ['d0'] })
    expect(await told()).toBe('documents')
    await eve.settled()
    expect(eve.messages).toEqual([])
    await addDocument('shared', { accessType: 'public' })
    expect(await eve.take('listChanged')).toMatchObject({ items: [{ documentId: 'shared' }] })
  })

  test('[R56.1] a closed list is told nothing, a backend has no lists, and a connection has a limited number', async () => {
    const { addDocument, client, ...tenant } = await scene()
    const ada = await RealtimeSocket.connect(server, await tokenFor({ client, ...tenant }, 'ada'))
    const list = { organizationId, list: 'documents' } as const
    ada.send({ type: 'openList', id: 1, ...list })
    await ada.take('done')
    ada.send({ type: 'closeList', ...list })
    await addDocument('plan')
    await ada.settled()
    expect(ada.messages).toEqual([])
    for (let i = 0; i < limits.lists; i++)
      ada.send({ type: 'openList', id: i, organizationId: `o${i}`, list: 'people' })
    ada.send({ type: 'openList', id: 1000, ...list })
    expect(await ada.take('error')).toMatchObject({ id: 1000, status: 'RESOURCE_EXHAUSTED' })
    const backend = new RealtimeSocket(server, { headers: tenant.headers })
    await backend.connected()
    await backend.take('ready')
    backend.send({ type: 'openList', id: 1, ...list })
    expect(await backend.take('error')).toMatchObject({ id: 1, status: 'PERMISSION_DENIED' })
  })
})
