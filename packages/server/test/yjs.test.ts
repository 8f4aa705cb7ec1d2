import { describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import * as Y from 'yjs'
import * as given from './given.ts'
import { stores, useServer } from './harness.ts'
import { closed, converged, editorName, socketUrl, synced, tokenFor, yjsClient } from './live.ts'

const place = { organizationId: 'org_1', documentId: 'doc_1', editorId: 'note' }

describe.each(stores)('y-websocket clients on %s', (store) => {
  const server = useServer(store)

  test('[R1] two clients see what each other types, and so does one who comes later', async () => {
    const tenant = await given.tenant(server)
    const [ada, bob] = [
      yjsClient(server, await tokenFor(tenant)),
      yjsClient(server, await tokenFor(tenant, 'bob')),
    ]
    await synced(ada, bob)
    ada.text.insert(0, 'Hello ')
    await expect.poll(() => bob.text.toString()).toBe('Hello ')
    bob.text.insert(6, 'world')
    await expect.poll(() => ada.text.toString()).toBe('Hello world')
    const late = yjsClient(server, await tokenFor(tenant, 'cleo'))
    await synced(late)
    expect(late.text.toString()).toBe('Hello world')
    await converged(ada.doc, bob.doc, late.doc)
  })

  test('[R1] what was typed offline arrives when the client is back', async () => {
    const tenant = await given.tenant(server)
    const ada = yjsClient(server, await tokenFor(tenant))
    const bob = yjsClient(server, await tokenFor(tenant, 'bob'))
    await synced(ada, bob)
    ada.provider.disconnect()
    ada.text.insert(0, 'offline')
    bob.text.insert(0, 'online ')
    await expect.poll(() => bob.text.toString()).toBe('online ')
    ada.provider.connect()
    await synced(ada)
    await converged(ada.doc, bob.doc)
    expect(ada.text.toString()).toContain('offline')
  })

  test('[R2] awareness reaches the others, and ends with the connection', async () => {
    const tenant = await given.tenant(server)
    const [ada, bob] = [
      yjsClient(server, await tokenFor(tenant)),
      yjsClient(server, await tokenFor(tenant, 'bob')),
    ]
    await synced(ada, bob)
    ada.provider.awareness.setLocalStateField('user', { name: 'Ada', color: '#f00' })
    const seen = () => bob.provider.awareness.getStates().get(ada.doc.clientID)
    await expect.poll(seen).toEqual({ user: { name: 'Ada', color: '#f00' } })
    const late = yjsClient(server, await tokenFor(tenant, 'cleo'))
    await synced(late)
    await expect
      .poll(() => late.provider.awareness.getStates().get(ada.doc.clientID))
      .toEqual({ user: { name: 'Ada', color: '#f00' } })
    ada.provider.destroy()
    await expect.poll(seen).toBeUndefined()
  })

  test('[R3] a viewer reads; neither its updates nor its answer to ours are stored, and it stays connected', async () => {
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
    await expect.poll(() => viewer.text.toString()).toContain('Hello world')
    expect(viewer.provider.wsconnected).toBe(true)
    expect(editor.text.toString()).toBe('Hello world')
    const { data } = await tenant.client.crdt.get(place)
    expect(data[0]?.data).toBe('Hello world')
  })

  test('[R4] what was typed is read over REST with its writer, and what REST writes is typed', async () => {
    const tenant = await given.tenant(server)
    const ada = yjsClient(server, await tokenFor(tenant))
    await synced(ada)
    ada.text.insert(0, 'Hello')
    await expect.poll(async () => (await tenant.client.crdt.get(place)).data[0]?.data).toBe('Hello')
    const { data } = await tenant.client.crdt.get(place)
    expect(data[0]).toMatchObject({
      id: 'note',
      lastUpdatedBy: 'ada',
      sessionId: expect.stringMatching(/^conn_/),
    })
    await tenant.client.crdt.update({ ...place, data: 'Hello world', type: 'text' })
    await expect.poll(() => ada.text.toString()).toBe('Hello world')
    ada.text.insert(0, '> ')
    await expect.poll(async () => (await tenant.client.crdt.get(place)).data[0]?.data).toBe('> Hello world')
  })

  test('[R5] without a token, or with a bad one, the connection is closed for good', async () => {
    const tenant = await given.tenant(server)
    const token = await tokenFor(tenant)
    for (const query of ['', '?token=', '?token=x', `?token=${token}x`]) {
      const socket = new WebSocket(socketUrl(server, `/yjs/${editorName}${query}`))
      expect(await closed(socket)).toMatchObject({ code: 4401, reason: expect.stringContaining('token_') })
    }
  })
})
