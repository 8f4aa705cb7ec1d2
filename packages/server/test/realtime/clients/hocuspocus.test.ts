import { describe, expect, onTestFinished, test } from 'vitest'
import * as Y from 'yjs'
import * as given from '../../support/given.ts'
import { startServer, stores, useServer } from '../../support/harness.ts'
import { heldDisk } from '../../support/faults/held-disk.ts'
import { converged, eventually, synced } from '../../support/clients/convergence.ts'
import { hocuspocusClient, saved } from '../../support/clients/hocuspocus-client.ts'
import { editorName } from '../../support/clients/open-clients.ts'
import { tokenFor } from '../../support/access/user-tokens.ts'

const editorRef = { organizationId: 'org_1', documentId: 'doc_1', editorId: 'note' }

describe.each(stores)('Hocuspocus clients on %s', (store) => {
  const server = useServer(store, { isOwn: true })

  test('[R6] two clients and a late joiner see the same text', async () => {
    const tenant = await given.tenant(server)
    const ada = hocuspocusClient(server, await tokenFor(tenant))
    const bob = hocuspocusClient(server, await tokenFor(tenant, 'bob'))
    await synced(ada, bob)
    ada.text.insert(0, 'Hello ')
    await eventually(() => bob.text.toJSON()).toBe('Hello ')
    bob.text.insert(6, 'world')
    await eventually(() => ada.text.toJSON()).toBe('Hello world')
    const late = hocuspocusClient(server, await tokenFor(tenant, 'cleo'))
    await synced(late)
    expect(late.text.toJSON()).toBe('Hello world')
    await converged(ada.doc, bob.doc, late.doc)
    await saved(ada, bob, late)
  })

  test('[R6] a provider emits the events of connecting, authenticating, syncing and disconnecting in order', async () => {
    const tenant = await given.tenant(server)
    const events: unknown[] = []
    const { provider, socket } = hocuspocusClient(server, await tokenFor(tenant), {
      onOpen: () => events.push('open'),
      onConnect: () => events.push('connect'),
      onStatus: ({ status }) => events.push(status),
      onAuthenticated: ({ scope }) => events.push(scope),
      onAuthenticationFailed: ({ reason }) => events.push(reason),
      onSynced: ({ state }) => events.push(`synced ${state}`),
      onUnsyncedChanges: ({ number }) => events.push(number),
      onDisconnect: ({ event }) => events.push(`disconnect ${event.code}`),
      onClose: ({ event }) => events.push(`close ${event.code}`),
    })
    await eventually(() => provider.unsyncedChanges === 0 && provider.isSynced).toBe(true)
    expect(provider).toMatchObject({ isAuthenticated: true, authorizedScope: 'read-write' })
    socket.disconnect()
    await eventually(() => events).toContain('close 1005')
    const until = (what: string) => events.splice(0, events.indexOf(what) + 1)
    expect(until('synced true')).toEqual([
      'connected',
      'open',
      1,
      'connected',
      'connect',
      'read-write',
      'synced true',
    ])
    expect(events).toEqual([0, 'disconnected', 'disconnect 1005', 'close 1005'])
    expect(provider).toMatchObject({ isAuthenticated: false, isSynced: false })
  })

  test('[R6.1] an update that a provider reports as synced can be read over REST', async () => {
    const tenant = await given.tenant(server)
    const ada = hocuspocusClient(server, await tokenFor(tenant))
    await synced(ada)
    await saved(ada)
    for (let typed = 1; typed <= 20; typed++) {
      ada.text.insert(0, 'x')
      expect(ada.provider.hasUnsyncedChanges).toBe(true)
      await eventually(() => ada.provider.hasUnsyncedChanges).toBe(false)
      expect((await tenant.client.crdt.get(editorRef)).data[0]?.data).toBe('x'.repeat(typed))
    }
  })

  test('[R6.1] the server acknowledges each of 300 quick updates', async () => {
    const tenant = await given.tenant(server)
    const ada = hocuspocusClient(server, await tokenFor(tenant))
    await synced(ada)
    await saved(ada)
    for (let typed = 0; typed < 300; typed++) ada.text.insert(typed, 'x')
    expect(ada.provider.unsyncedChanges).toBe(300)
    await eventually(() => ada.provider.unsyncedChanges).toBe(0)
    expect((await tenant.client.crdt.get(editorRef)).data[0]?.data).toBe('x'.repeat(300))
  })

  test('[R6.4] text typed before the provider is authenticated is stored and acknowledged', async () => {
    const tenant = await given.tenant(server)
    const token = await tokenFor(tenant)
    let release = () => {}
    const waiting = new Promise<void>((resolve) => (release = resolve))
    const ada = hocuspocusClient(server, () => waiting.then(() => token))
    ada.text.insert(0, 'before the socket opens, ')
    await eventually(() => ada.socket.status).toBe('connected')
    ada.text.insert(ada.text.length, 'before the token is there, ')
    release()
    await eventually(() => ada.provider.isAuthenticated).toBe(true)
    for (let typed = 0; typed < 100; typed++) ada.text.insert(ada.text.length, '.')
    await synced(ada)
    await saved(ada)
    expect((await tenant.client.crdt.get(editorRef)).data[0]?.data).toBe(ada.text.toJSON())
  })

  test('[R3] a viewer can read, and its changes are not stored and never reported as synced', async () => {
    const tenant = await given.tenant(server)
    const ada = hocuspocusClient(server, await tokenFor(tenant))
    await synced(ada)
    ada.text.insert(0, 'Hello')
    const vic = hocuspocusClient(server, await tokenFor(tenant, 'vic', { role: 'viewer' }))
    await synced(vic)
    expect(vic.provider.authorizedScope).toBe('readonly')
    await saved(vic)
    vic.text.insert(0, 'forged ')
    ada.text.insert(5, ' world')
    await eventually(() => vic.text.toJSON()).toBe('forged Hello world')
    vic.provider.forceSync()
    ada.text.insert(11, '!')
    await eventually(() => vic.text.toJSON()).toBe('forged Hello world!')
    expect(vic.provider).toMatchObject({ hasUnsyncedChanges: true, isAuthenticated: true, isSynced: true })
    expect((await tenant.client.crdt.get(editorRef)).data[0]?.data).toBe('Hello world!')
  })

  test('[R9.2] a connected user whose right to write changes gets the new scope', async () => {
    const tenant = await given.tenant(server)
    await given.document(tenant)
    await given.users(tenant, ['vic'])
    const scopes: string[] = []
    const onAuthenticated = ({ scope }: { scope: string }) => scopes.push(scope)
    const token = await tokenFor(tenant, 'vic', { resources: [] })
    const role = (accessRole: 'viewer' | 'editor') =>
      tenant.client.permissions.add({
        user: { userId: 'vic' },
        permissions: { resources: [{ type: 'organization', id: 'org_1', accessRole }] },
      })
    await role('viewer')
    const vic = hocuspocusClient(server, token, { onAuthenticated })
    await synced(vic)
    vic.text.insert(0, 'kept ')
    await role('editor')
    await eventually(() => scopes).toEqual(['readonly', 'read-write'])
    vic.text.insert(5, 'and added')
    await eventually(async () => (await tenant.client.crdt.get(editorRef)).data[0]?.data).toBe(
      'kept and added',
    )
    await role('viewer')
    await eventually(() => scopes).toEqual(['readonly', 'read-write', 'readonly'])
    expect(vic.provider.authorizedScope).toBe('readonly')
  })

  test('[R2] [R2.2] awareness states and their changes reach other clients, and are removed when the provider is destroyed', async () => {
    const tenant = await given.tenant(server)
    let states: object[] = []
    const ada = hocuspocusClient(server, await tokenFor(tenant))
    const bob = hocuspocusClient(server, await tokenFor(tenant, 'bob'), {
      onAwarenessChange: (change) => (states = change.states),
    })
    await synced(ada, bob)
    ada.provider.setAwarenessField('user', { name: 'Ada' })
    const clientId = ada.doc.clientID
    await eventually(() => states).toContainEqual({ clientId, user: { name: 'Ada' } })
    ada.provider.setAwarenessField('cursor', 7)
    await eventually(() => states).toContainEqual({ clientId, user: { name: 'Ada' }, cursor: 7 })
    const late = hocuspocusClient(server, await tokenFor(tenant, 'cleo'))
    await eventually(() => late.provider.awareness?.getStates().get(clientId)).toEqual({
      user: { name: 'Ada' },
      cursor: 7,
    })
    ada.provider.destroy()
    await eventually(() => states).not.toContainEqual(expect.objectContaining({ clientId }))
    expect(bob.provider.awareness?.getStates().has(bob.doc.clientID)).toBe(true)
  })

  test('[R6] a provider without awareness receives text although another client sets awareness states', async () => {
    const tenant = await given.tenant(server)
    const ada = hocuspocusClient(server, await tokenFor(tenant), { awareness: null })
    const bob = hocuspocusClient(server, await tokenFor(tenant, 'bob'))
    await synced(ada, bob)
    bob.provider.setAwarenessField('cursor', 1)
    bob.text.insert(0, 'Hello')
    await eventually(() => ada.text.toJSON()).toBe('Hello')
  })

  test('[R6] the server acknowledges each sync that a provider forces, once or at an interval', async () => {
    const tenant = await given.tenant(server)
    const counts: number[] = []
    const ada = hocuspocusClient(server, await tokenFor(tenant))
    await synced(ada)
    await saved(ada)
    ada.provider.on('unsyncedChanges', ({ number }: { number: number }) => counts.push(number))
    ada.provider.forceSync()
    await eventually(() => counts).toEqual([1, 0])
    const bob = hocuspocusClient(server, await tokenFor(tenant, 'bob'), { forceSyncInterval: 10 })
    let answers = 0
    bob.provider.on('unsyncedChanges', ({ number }: { number: number }) => (answers += number === 0 ? 1 : 0))
    await eventually(() => answers).toBeGreaterThan(5)
    expect(bob.provider.isSynced).toBe(true)
  })

  test('[R6] the updates and the awareness state of a provider with a flush delay reach other clients, also when it is destroyed', async () => {
    const tenant = await given.tenant(server)
    const ada = hocuspocusClient(server, await tokenFor(tenant), { flushDelay: 30 })
    const bob = hocuspocusClient(server, await tokenFor(tenant, 'bob'))
    await synced(ada, bob)
    await saved(ada)
    for (let typed = 0; typed < 50; typed++) ada.text.insert(typed, 'x')
    ada.text.delete(10, 20)
    ada.provider.setAwarenessField('cursor', 30)
    expect(ada.provider.unsyncedChanges).toBe(1)
    await eventually(() => bob.text.toJSON()).toBe('x'.repeat(30))
    await eventually(() => bob.provider.awareness?.getStates().get(ada.doc.clientID)).toEqual({ cursor: 30 })
    await saved(ada)
    ada.text.insert(0, 'last ')
    ada.provider.destroy()
    await eventually(() => bob.text.toJSON()).toMatch(/^last /)
  })

  test('[R6] [R1.6] [R1.7] unescaped editor names can contain spaces, %, &, ?, # and non-ASCII characters', async () => {
    const tenant = await given.tenant(server)
    const name = 'org_1/日本語 & Ünïcödé/50% ?#🙂'
    const ada = hocuspocusClient(server, await tokenFor(tenant), { name })
    await synced(ada)
    ada.text.insert(0, 'Hello')
    await saved(ada)
    const [organizationId = '', documentId = '', editorId = ''] = name.split('/')
    const { data } = await tenant.client.crdt.get({ organizationId, documentId, editorId })
    expect(data[0]?.data).toBe('Hello')
  })

  test('[R6] a large editor with nested content and undo is the same for another client', async () => {
    const tenant = await given.tenant(server)
    const ada = hocuspocusClient(server, await tokenFor(tenant), { name: `${editorName} large` })
    const bob = hocuspocusClient(server, await tokenFor(tenant, 'bob'), { name: `${editorName} large` })
    await synced(ada, bob)
    ada.text.insert(0, 'x'.repeat(400_000))
    const undo = new Y.UndoManager(ada.text, { captureTimeout: 0 })
    ada.text.insert(5, 'undone', { bold: true })
    const map = ada.doc.getMap<unknown>('map')
    map.set('array', Y.Array.from([1, 'two', { three: null }, new Uint8Array([4])]))
    map.set('subdocument', new Y.Doc({ guid: 'inner' }))
    const paragraph = new Y.XmlElement('p')
    paragraph.insert(0, [new Y.XmlText('Hello')])
    ada.doc.getXmlFragment('xml').insert(0, [paragraph])
    undo.undo()
    await saved(ada)
    await eventually(() => bob.text.length).toBe(400_000)
    const { array } = bob.doc.getMap<Y.Array<unknown>>('map').toJSON()
    expect(array).toEqual([1, 'two', { three: null }, new Uint8Array([4])])
    expect(bob.doc.getXmlFragment('xml').toJSON()).toBe('<p>Hello</p>')
    expect([...bob.doc.getSubdocs()].map(({ guid }) => guid)).toEqual(['inner'])
    undo.redo()
    await eventually(() => bob.text.toJSON().slice(0, 12)).toBe('xxxxxundonex')
  })
})

test('[R6.1] an update is neither acknowledged nor broadcast before it is on disk', async () => {
  const disk = heldDisk()
  const server = await startServer('sqlite', { sync: disk.sync })
  onTestFinished(() => server.stop())
  const tenant = await given.tenant(server)
  const ada = hocuspocusClient(server, await tokenFor(tenant))
  const bob = hocuspocusClient(server, await tokenFor(tenant, 'bob'))
  await synced(ada, bob)
  await saved(ada, bob)
  disk.hold()
  ada.text.insert(0, 'Hello')
  await eventually(disk.waiting).toBe(1)
  // A sync request is not acknowledged while known changes are not durable.
  bob.provider.forceSync()
  ada.provider.forceSync()
  await eventually(() => ada.provider.unsyncedChanges).toBe(1)
  expect(bob.text.toJSON()).toBe('')
  disk.release()
  await saved(ada, bob)
  await eventually(() => bob.text.toJSON()).toBe('Hello')
})
