import { once } from 'node:events'
import * as decoding from 'lib0/decoding'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { WebSocket } from 'ws'
import * as Y from 'yjs'
import * as given from '../../support/given.ts'
import { anyStore, startServer, stores, useServer } from '../../support/harness.ts'
import { heldDisk } from '../../support/faults/held-disk.ts'
import { converged, eventually, synced } from '../../support/clients/convergence.ts'
import { closeClients, editorName } from '../../support/clients/open-clients.ts'
import { encodeMessage } from '../../support/clients/encode-message.ts'
import { RawSocket, socketUrl } from '../../support/clients/raw-socket.ts'
import { yjsClient } from '../../support/clients/yjs-client.ts'
import { tokenFor } from '../../support/access/user-tokens.ts'

const editorRef = { organizationId: 'org_1', documentId: 'doc_1', editorId: 'note' }

describe.each(stores)('y-websocket clients on %s', (store) => {
  const server = useServer(store, { isOwn: true })

  test('[R1] [R1.1] two clients and a late joiner see the same text', async () => {
    const tenant = await given.tenant(server)
    const [ada, bob] = [
      yjsClient(server, await tokenFor(tenant)),
      yjsClient(server, await tokenFor(tenant, 'bob')),
    ]
    await synced(ada, bob)
    ada.text.insert(0, 'Hello ')
    await eventually(() => bob.text.toJSON()).toBe('Hello ')
    bob.text.insert(6, 'world')
    await eventually(() => ada.text.toJSON()).toBe('Hello world')
    const late = yjsClient(server, await tokenFor(tenant, 'cleo'))
    await synced(late)
    expect(late.text.toJSON()).toBe('Hello world')
    await converged(ada.doc, bob.doc, late.doc)
  })

  test('[R1] text typed offline arrives when the client reconnects', async () => {
    const tenant = await given.tenant(server)
    const ada = yjsClient(server, await tokenFor(tenant))
    const bob = yjsClient(server, await tokenFor(tenant, 'bob'))
    await synced(ada, bob)
    ada.provider.disconnect()
    ada.text.insert(0, 'offline')
    bob.text.insert(0, 'online ')
    await eventually(() => bob.text.toJSON()).toBe('online ')
    ada.provider.connect()
    await synced(ada)
    await converged(ada.doc, bob.doc)
    expect(ada.text.toJSON()).toContain('offline')
  })

  test('[R2] [R2.2] an awareness state reaches other clients and late joiners, and is removed when its client disconnects', async () => {
    const tenant = await given.tenant(server)
    const [ada, bob] = [
      yjsClient(server, await tokenFor(tenant)),
      yjsClient(server, await tokenFor(tenant, 'bob')),
    ]
    await synced(ada, bob)
    ada.provider.awareness.setLocalStateField('user', { name: 'Ada', color: '#f00' })
    const seen = () => bob.provider.awareness.getStates().get(ada.doc.clientID)
    await eventually(seen).toEqual({ user: { name: 'Ada', color: '#f00' } })
    const late = yjsClient(server, await tokenFor(tenant, 'cleo'))
    await synced(late)
    await eventually(() => late.provider.awareness.getStates().get(ada.doc.clientID)).toEqual({
      user: { name: 'Ada', color: '#f00' },
    })
    ada.provider.destroy()
    await eventually(seen).toBeUndefined()
  })

  test('[R3] a viewer can read and stays connected, and neither its updates nor its sync replies are stored', async () => {
    const tenant = await given.tenant(server)
    const editor = yjsClient(server, await tokenFor(tenant))
    await synced(editor)
    editor.text.insert(0, 'Hello')
    const doc = new Y.Doc()
    doc.getText('content').insert(0, 'forged offline ')
    const viewer = yjsClient(server, await tokenFor(tenant, 'vic', { role: 'viewer' }), { doc })
    await synced(viewer)
    viewer.text.insert(0, 'forged ')
    editor.text.insert(5, ' world')
    await eventually(() => viewer.text.toJSON()).toContain('Hello world')
    expect(viewer.provider.wsconnected).toBe(true)
    expect(editor.text.toJSON()).toBe('Hello world')
    const { data } = await tenant.client.crdt.get(editorRef)
    expect(data[0]?.data).toBe('Hello world')
  })

  test('[R4] [R4.1] REST reads typed text with its writer, and clients receive what REST writes', async () => {
    const tenant = await given.tenant(server)
    const ada = yjsClient(server, await tokenFor(tenant))
    await synced(ada)
    ada.text.insert(0, 'Hello')
    await eventually(async () => (await tenant.client.crdt.get(editorRef)).data[0]?.data).toBe('Hello')
    const { data } = await tenant.client.crdt.get(editorRef)
    expect(data[0]).toMatchObject({
      id: 'note',
      lastUpdatedBy: 'ada',
      sessionId: expect.stringMatching(/^conn_/),
    })
    await tenant.client.crdt.update({ ...editorRef, data: 'Hello world', type: 'text' })
    await eventually(() => ada.text.toJSON()).toBe('Hello world')
    ada.text.insert(0, '> ')
    await eventually(async () => (await tenant.client.crdt.get(editorRef)).data[0]?.data).toBe(
      '> Hello world',
    )
  })

  test('[R5.2] a connection without a token, or with an invalid one, is closed with 4401', async () => {
    const tenant = await given.tenant(server)
    const token = await tokenFor(tenant)
    for (const query of ['', '?token=', '?token=x', `?token=${token}x`]) {
      const { closed } = new RawSocket(server, `/yjs/${editorName}${query}`)
      expect(await closed).toMatchObject({ code: 4401, reason: expect.stringContaining('token_') })
    }
  })

  test('[R1] a provider emits its status, sync and close events in the same order at the first connection and at a reconnect', async () => {
    const tenant = await given.tenant(server)
    const events: unknown[] = []
    const { provider } = yjsClient(server, await tokenFor(tenant), { connect: false })
    provider.on('status', ({ status }) => events.push(status))
    provider.on('sync', (state) => events.push(`sync ${state}`))
    provider.on('connection-close', (event) => events.push(`closed ${event?.code}`))
    provider.connect()
    await synced({ provider })
    provider.ws?.close()
    await eventually(() => events.filter((what) => what === 'sync true')).toHaveLength(2)
    const connecting = ['connecting', 'connected', 'sync true']
    expect(events).toEqual([...connecting, 'closed 1005', 'sync false', 'disconnected', ...connecting])
  })

  test('[R5] [R9.1] a provider that may not connect, or loses access, does not reconnect until the application asks it to', async () => {
    const tenant = await given.tenant(server)
    await given.restrictedDocument(tenant, 'locked')
    const ends: { code: number; reason: string }[] = []
    const denied = yjsClient(server, await tokenFor(tenant), { name: 'org_1/locked/note', connect: false })
    denied.provider.on('closed', (end) => ends.push(end))
    denied.provider.connect()
    await eventually(() => ends).toEqual([{ code: 4403, reason: 'The user may not open this document.' }])
    expect(denied.provider).toMatchObject({ shouldConnect: false, synced: false })

    const resource = { type: 'document', id: 'locked', organizationId: 'org_1' } as const
    denied.provider.params = { token: await tokenFor(tenant, 'ada', { resources: [resource] }) }
    denied.provider.connect()
    await synced(denied)
    await tenant.client.documents.delete({ organizationId: 'org_1', documentIds: ['locked'] })
    await eventually(() => ends.slice(1)).toEqual([{ code: 4404, reason: 'The document was deleted.' }])
    expect(denied.provider.shouldConnect).toBe(false)
  })

  test.each(['note', 'org_1/note', 'org_1/doc/note/more'])(
    '[R1.8] a provider with the invalid name %s gets a reason with the format of names and does not retry',
    async (name) => {
      const tenant = await given.tenant(server)
      const ends: { code: number; reason: string }[] = []
      const { provider } = yjsClient(server, await tokenFor(tenant), { name, connect: false })
      provider.on('closed', (end) => ends.push(end))
      provider.connect()
      const reason = 'The name of an editor is organizationId/documentId/editorId, each percent-encoded.'
      await eventually(() => ends).toEqual([{ code: 4400, reason }])
      expect(provider.shouldConnect).toBe(false)
    },
  )

  test('[R1] the server answers a provider each time that it requests the document again', async () => {
    // The provider reads the constants of the global WebSocket, which Node 20 does not have.
    vi.stubGlobal('WebSocket', WebSocket)
    onTestFinished(() => void vi.unstubAllGlobals())
    const tenant = await given.tenant(server)
    const ada = yjsClient(server, await tokenFor(tenant), { resyncInterval: 10 })
    const bob = yjsClient(server, await tokenFor(tenant, 'bob'))
    await synced(ada, bob)
    let answers = 0
    ;(ada.provider.ws as unknown as WebSocket).on('message', (data: ArrayBuffer) => {
      const [type, step] = new Uint8Array(data)
      if (type === 0 && step === 1) answers++
    })
    bob.text.insert(0, 'Hello')
    await eventually(() => answers).toBeGreaterThan(5)
    await converged(ada.doc, bob.doc)
  })

  test('[R1.5] the server ignores messages of unknown types, and the client stays connected', async () => {
    const tenant = await given.tenant(server)
    const ada = yjsClient(server, await tokenFor(tenant))
    const bob = yjsClient(server, await tokenFor(tenant, 'bob'))
    await synced(ada, bob)
    const closes: unknown[] = []
    ada.provider.on('connection-close', (event) => closes.push(event))
    for (const type of [4, 100]) ada.provider.ws?.send(Uint8Array.of(type, 1, 2, 3))
    ada.text.insert(0, 'Hello')
    await eventually(() => bob.text.toJSON()).toBe('Hello')
    expect(closes).toEqual([])
  })

  test('[R2.3] other clients see the awareness state of a client again after it reconnects, and after it removes the state and sets it again', async () => {
    const tenant = await given.tenant(server)
    const ada = yjsClient(server, await tokenFor(tenant))
    const bob = yjsClient(server, await tokenFor(tenant, 'bob'))
    await synced(ada, bob)
    const seen = () => bob.provider.awareness.getStates().get(ada.doc.clientID)
    for (let cursor = 1; cursor < 4; cursor++) {
      ada.provider.awareness.setLocalStateField('cursor', cursor)
      await eventually(seen).toEqual({ cursor })
      ada.provider.disconnect()
      await eventually(seen).toBeUndefined()
      ada.provider.connect()
      await eventually(seen).toEqual({ cursor })
    }
    ada.provider.awareness.setLocalStateField('cursor', 'moved')
    await eventually(seen).toEqual({ cursor: 'moved' })
    expect(ada.provider.awareness.getLocalState()).toEqual({ cursor: 'moved' })
    ada.provider.awareness.setLocalState(null)
    await eventually(seen).toBeUndefined()
    ada.provider.awareness.setLocalState({ cursor: 'again' })
    await eventually(seen).toEqual({ cursor: 'again' })
  })

  test('[R1.4] an update that a provider sends right before it is destroyed is stored', async () => {
    const tenant = await given.tenant(server)
    const token = await tokenFor(tenant)
    const ada = yjsClient(server, token)
    await synced(ada)
    ada.text.insert(0, 'last words')
    ada.provider.destroy()
    const early = yjsClient(server, token)
    await eventually(() => early.provider.wsconnected).toBe(true)
    early.text.insert(0, 'and more ')
    early.provider.destroy()
    const late = yjsClient(server, token)
    await eventually(() => late.text.toJSON()).toMatch(/^(and more last words|last wordsand more )$/)
  })

  test('[R1] 150 quick updates of each of three editors arrive in the right editor', async () => {
    const tenant = await given.tenant(server)
    const token = await tokenFor(tenant)
    const names = ['org_1/doc_1/one', 'org_1/doc_1/two', 'org_1/doc_2/one']
    const writers = names.map((name) => yjsClient(server, token, { name }))
    const readers = names.map((name) => yjsClient(server, token, { name }))
    await synced(...writers, ...readers)
    for (let typed = 0; typed < 150; typed++) {
      for (const [index, { text }] of writers.entries()) text.insert(typed, `${index}`)
    }
    for (const [index, { text }] of readers.entries()) {
      await eventually(() => text.toJSON()).toBe(`${index}`.repeat(150))
    }
  })

  test('[R1] a large editor with nested content and undo is the same for all clients', async () => {
    const tenant = await given.tenant(server)
    const doc = new Y.Doc()
    doc.getText('content').insert(0, 'x'.repeat(400_000))
    const ada = yjsClient(server, await tokenFor(tenant), { doc })
    const bob = yjsClient(server, await tokenFor(tenant, 'bob'))
    await synced(ada, bob)
    const undo = new Y.UndoManager(ada.text, { captureTimeout: 0 })
    ada.text.insert(5, 'undone', { bold: true })
    ada.text.insertEmbed(3, { image: 'a.png' })
    const map = ada.doc.getMap<unknown>('map')
    map.set('array', Y.Array.from([1, 'two', { three: null }, new Uint8Array([4])]))
    map.set('subdocument', new Y.Doc({ guid: 'inner' }))
    const paragraph = new Y.XmlElement('p')
    paragraph.setAttribute('align', 'left')
    paragraph.insert(0, [new Y.XmlText('Hello')])
    ada.doc.getXmlFragment('xml').insert(0, [paragraph])
    undo.undo()
    undo.undo()
    await eventually(() => bob.doc.getXmlFragment('xml').toJSON()).toBe('<p align="left">Hello</p>')
    await eventually(() => bob.text.length).toBe(400_000)
    const { array } = bob.doc.getMap('map').toJSON()
    expect(array).toEqual([1, 'two', { three: null }, new Uint8Array([4])])
    expect([...bob.doc.getSubdocs()].map(({ guid }) => guid)).toEqual(['inner'])
    undo.redo()
    await eventually(() => bob.text.toJSON().slice(0, 12)).toBe('xxxxxundonex')
    const late = yjsClient(server, await tokenFor(tenant, 'cleo'))
    await synced(late)
    expect(late.text.toDelta()).toEqual(ada.text.toDelta())
  })

  test('[R1.6] escaped editor names can contain %, ?, # and any Unicode character, and spaces and non-ASCII characters also work unescaped', async () => {
    const tenant = await given.tenant(server)
    const token = await tokenFor(tenant)
    const ids = ['org_1', '日本語 & Ünïcödé', '50% ?#🙂']
    const ada = yjsClient(server, token, { name: ids.map(encodeURIComponent).join('/') })
    await synced(ada)
    ada.text.insert(0, 'Hello')
    const [organizationId = '', documentId = '', editorId = ''] = ids
    const read = async () => (await tenant.client.crdt.get({ organizationId, documentId, editorId })).data[0]
    await eventually(async () => (await read())?.data).toBe('Hello')
    const raw = yjsClient(server, token, { name: `org_1/${documentId}/plain 日本` })
    await synced(raw)
    raw.text.insert(0, 'too')
    const { client } = tenant
    await eventually(async () => {
      const { data } = await client.crdt.get({ organizationId, documentId, editorId: 'plain 日本' })
      return data[0]?.data
    }).toBe('too')
  })

  test('[R1] tabs of one browser that also exchange updates directly converge with a client of another browser', async () => {
    const tenant = await given.tenant(server)
    const token = await tokenFor(tenant)
    const tabs = [1, 2, 3].map(() => yjsClient(server, token, { disableBc: false }))
    const bob = yjsClient(server, await tokenFor(tenant, 'bob'))
    await synced(...tabs, bob)
    for (const [index, { text, provider }] of tabs.entries()) {
      provider.awareness.setLocalStateField('tab', index)
      for (let typed = 0; typed < 50; typed++) text.insert(0, `${index}`)
    }
    tabs[0]?.provider.disconnect()
    tabs[1]?.text.insert(0, 'and more')
    tabs[0]?.text.insert(0, 'from a tab that is offline')
    tabs[0]?.provider.connect()
    await converged(bob.doc, ...tabs.map(({ doc }) => doc))
    expect(bob.text.length).toBe(150 + 8 + 26)
    await eventually(() => {
      const states = [...bob.provider.awareness.getStates().values()]
      return states.flatMap(({ tab }) => tab ?? []).toSorted()
    }).toEqual([0, 1, 2])
  })

  test('[R1] clients reconnect by themselves after a restart and send what they typed meanwhile', async () => {
    const before = await startServer(store)
    const tenant = await given.tenant(before)
    const ada = yjsClient(before, await tokenFor(tenant))
    const bob = yjsClient(before, await tokenFor(tenant, 'bob'))
    await synced(ada, bob)
    ada.text.insert(0, 'before, ')
    const restarting = before.restart()
    await eventually(() => ada.provider.wsconnected).toBe(false)
    ada.text.insert(ada.text.length, 'away, ')
    const after = await restarting
    onTestFinished(() => {
      closeClients()
      return after.stop()
    })
    await synced(ada, bob)
    ada.text.insert(ada.text.length, 'after')
    await eventually(() => bob.text.toJSON()).toBe('before, away, after')
    await converged(ada.doc, bob.doc)
  })
})

test('[R1.2] [R1.3] an update and its duplicates are sent back to their sender only when the update is on disk', async () => {
  const disk = heldDisk()
  const server = await startServer('sqlite', { sync: disk.sync })
  onTestFinished(() => server.stop())
  // Before that: a server that stops waits for the disk.
  onTestFinished(() => disk.release())
  const tenant = await given.tenant(server)
  const doc = new Y.Doc()
  doc.getText('content').insert(0, 'Hello')
  const update = Y.encodeStateAsUpdate(doc)
  const socket = new RawSocket(server, `/yjs/${editorName}?token=${await tokenFor(tenant)}`)
  const message = encodeMessage(0, 2, update)
  /** Returns the updates that the server sent, as whole messages. */
  const echoes = () => socket.received.filter(([type, kind]) => type === 0 && kind === 2)
  await socket.receivedCount(1)
  const send = () => socket.send(message)
  disk.hold()
  send()
  // A duplicate is acknowledged too, but not before the original is durable.
  send()
  await eventually(disk.waiting).toBe(1)
  // Now the original is no longer in the queue. The answer to the request shows that the server has handled the duplicate.
  send()
  const isAnswer = ([type, kind]: Buffer) => type === 0 && kind === 1
  const answers = () => socket.received.filter(isAnswer).length
  const before = answers()
  socket.send(encodeMessage(0, 0, Y.encodeStateVector(new Y.Doc())))
  await eventually(answers).toBe(before + 1)
  expect(echoes()).toEqual([])
  disk.release()
  await eventually(() => echoes().length).toBe(3)
  for (const echo of echoes()) expect(echo).toEqual(Buffer.from(message))
  send()
  await eventually(() => echoes().length).toBe(4)
})

test('[R1.2] updates that are stored together are sent as one, also to their sender', async () => {
  const server = await startServer(anyStore)
  onTestFinished(() => server.stop())
  const tenant = await given.tenant(server)
  const token = await tokenFor(tenant)
  const doc = new Y.Doc()
  const updates: Uint8Array[] = []
  doc.on('update', (update) => updates.push(update))
  for (let index = 0; index < 50; index++) doc.getText('content').insert(index, 'x')
  const receivers = [1, 2].map(() => {
    const socket = new WebSocket(socketUrl(server, `/yjs/${editorName}?token=${token}`))
    onTestFinished(() => socket.terminate())
    const received: Uint8Array[] = []
    socket.on('message', (data: Buffer) => {
      const decoder = decoding.createDecoder(data)
      if (decoding.readVarUint(decoder) !== 0 || decoding.readVarUint(decoder) !== 2) return
      received.push(decoding.readVarUint8Array(decoder))
    })
    return { socket, received }
  })
  await Promise.all(receivers.map(({ socket }) => once(socket, 'message')))
  for (const update of updates) receivers[0]!.socket.send(Buffer.from([0, 2, update.length, ...update]))
  const textOf = (received: Uint8Array[]) => {
    const copy = new Y.Doc()
    for (const update of received) Y.applyUpdate(copy, update)
    return copy.getText('content').toJSON()
  }
  for (const { received } of receivers) await eventually(() => textOf(received)).toBe('x'.repeat(50))
  const rows = await server.database.read.selectFrom('editor_updates').select('seq').execute()
  expect(receivers.map(({ received }) => received.length)).toEqual([rows.length, rows.length])
  expect(rows.length).toBeLessThan(50)
})
