import { describe, expect, onTestFinished, test } from 'vitest'
import type { WebSocket } from 'ws'
import * as Y from 'yjs'
import * as given from '../../support/given.ts'
import { anyStore, startServer, useServer } from '../../support/harness.ts'
import { heldDisk } from '../../support/faults/held-disk.ts'
import { eventually, synced } from '../../support/clients/convergence.ts'
import { hocuspocusClient } from '../../support/clients/hocuspocus-client.ts'
import { editorName } from '../../support/clients/open-clients.ts'
import { plenumConnection } from '../../support/clients/plenum-client.ts'
import { RawSocket } from '../../support/clients/raw-socket.ts'
import { ySweetClient, ySweetManager } from '../../support/clients/y-sweet-client.ts'
import { yjsClient } from '../../support/clients/yjs-client.ts'
import { tokenFor } from '../../support/access/user-tokens.ts'

const editorRef = { organizationId: 'org_1', documentId: 'doc_1', editorId: 'note' }

describe('Y-Sweet clients', () => {
  const server = useServer(anyStore, { isOwn: true })

  /** Creates a document with the SDK and returns the SDK. */
  const scene = async (docId = editorName) => {
    const tenant = await given.tenant(server)
    const manager = ySweetManager(server, tenant)
    await manager.createDoc(docId)
    const join = (userId: string, authorization: 'full' | 'read-only' = 'full') =>
      ySweetClient(() => manager.getClientToken(docId, { userId, authorization }), { docId })
    return { tenant, manager, join }
  }

  test('[R40] clients of all protocols see the text and the cursors of the others', async () => {
    const { tenant, join } = await scene()
    const zoe = join('zoe')
    const ada = yjsClient(server, await tokenFor(tenant))
    const hal = hocuspocusClient(server, await tokenFor(tenant, 'hal'))
    const connection = plenumConnection(server.client(), await tokenFor(tenant, 'pam'))
    const pam = connection.document('org_1', 'doc_1').editor('note')
    await pam.whenSynced
    await synced(zoe, ada, hal)
    const docs = { zoe: zoe.doc, ada: ada.doc, hal: hal.doc, pam: pam.doc }
    const awarenesses = [
      zoe.provider.awareness,
      ada.provider.awareness,
      hal.provider.awareness,
      pam.awareness,
    ]
    for (const [name, doc] of Object.entries(docs)) {
      const text = doc.getText('content')
      const before = text.length
      text.insert(before, `${name} `)
      for (const other of Object.values(docs)) {
        await eventually(() => other.getText('content').length).toBe(before + name.length + 1)
      }
    }
    for (const [index, awareness] of awarenesses.entries()) awareness?.setLocalStateField('cursor', index)
    const cursors = () =>
      awarenesses.map((one) => [...(one?.getStates().values() ?? [])].map(({ cursor }) => cursor).sort())
    await eventually(cursors).toEqual(awarenesses.map(() => [0, 1, 2, 3]))
    await eventually(() => zoe.provider.hasLocalChanges).toBe(false)
    zoe.provider.awareness.setLocalState(null)
    await eventually(() => ada.provider.awareness.getStates().size).toBe(3)
  })

  test('[R41] an id of one part names a document of the organization y-sweet with the editor default', async () => {
    const { tenant, join } = await scene('my-document')
    const zoe = join('zoe')
    await synced(zoe)
    zoe.text.insert(0, 'Hello')
    const read = async () => (await tenant.client.crdt.get(flat)).data[0]
    const flat = { organizationId: 'y-sweet', documentId: 'my-document', editorId: 'default' }
    await eventually(read).toMatchObject({ data: 'Hello', lastUpdatedBy: 'zoe' })
  })

  test('[R41] [R41.1] ids of three parts can contain any character in percent-encoding', async () => {
    const docId = ['org_1', 'https://a/ws/b c', 'ü%'].map(encodeURIComponent).join('/')
    const { tenant, join } = await scene(docId)
    const zoe = join('zoe')
    await synced(zoe)
    zoe.text.insert(0, 'Hello')
    const named = { organizationId: 'org_1', documentId: 'https://a/ws/b c', editorId: 'ü%' }
    await eventually(async () => (await tenant.client.crdt.get(named)).data[0]?.data).toBe('Hello')
  })

  test('[R42.2] a client with a read-only token can read, and its changes stay unsaved', async () => {
    const { tenant, join } = await scene()
    const zoe = join('zoe')
    const vic = join('vic', 'read-only')
    await synced(zoe, vic)
    await eventually(() => vic.provider.hasLocalChanges).toBe(false)
    vic.text.insert(0, 'forged')
    zoe.text.insert(0, 'Hello ')
    await eventually(() => vic.text.toJSON()).toMatch(/^(Hello forged|forgedHello )$/)
    await eventually(() => zoe.provider.hasLocalChanges).toBe(false)
    expect(vic.provider.hasLocalChanges).toBe(true)
    expect((await tenant.client.crdt.get(editorRef)).data[0]?.data).toBe('Hello ')
  })

  test('[R42.2] changes that a viewer made are saved when it becomes an editor', async () => {
    const { tenant, manager } = await scene()
    const grant = (accessRole: 'viewer' | 'editor') =>
      tenant.client.permissions.add({
        userId: 'vic',
        permissions: { resources: [{ type: 'document', id: 'doc_1', organizationId: 'org_1', accessRole }] },
      })
    const vic = ySweetClient(() => manager.getClientToken(editorName, { userId: 'vic' }))
    await synced(vic)
    await grant('viewer')
    vic.text.insert(0, 'late')
    const reader = yjsClient(server, await tokenFor(tenant))
    await synced(reader)
    expect(vic.provider.hasLocalChanges).toBe(true)
    await grant('editor')
    await eventually(() => reader.text.toJSON()).toBe('late')
    await eventually(() => vic.provider.hasLocalChanges).toBe(false)
  })

  test('[R42] [R42.1] a client token opens only its document at /yjs, with at most its role', async () => {
    const { tenant, manager } = await scene()
    await manager.createDoc('org_1/doc_2/note')
    const { token = '' } = await manager.getClientToken(editorName, {
      userId: 'vic',
      authorization: 'read-only',
    })
    const other = new RawSocket(server, `/yjs/org_1/doc_2/note?token=${token}`)
    expect(await other.closed).toMatchObject({ code: 4403 })
    // A stored grant that is newer than the token does not extend its role.
    await tenant.client.permissions.add({
      userId: 'vic',
      permissions: {
        resources: [{ type: 'document', id: 'doc_1', organizationId: 'org_1', accessRole: 'editor' }],
      },
    })
    const vic = yjsClient(server, token)
    const ada = yjsClient(server, await tokenFor(tenant))
    await synced(vic, ada)
    vic.text.insert(0, 'forged')
    ada.text.insert(0, 'Hello')
    await eventually(() => vic.text.length).toBe('forgedHello'.length)
    expect(ada.text.toJSON()).toBe('Hello')
  })

  test('[R42] a client token cannot create a deleted document again at /yjs', async () => {
    const { tenant, manager } = await scene()
    const { token = '' } = await manager.getClientToken(editorName, { userId: 'vic' })
    await tenant.client.documents.delete({ organizationId: 'org_1', documentIds: ['doc_1'] })
    const socket = new RawSocket(server, `/yjs/${editorName}?token=${token}`)
    expect(await socket.closed).toMatchObject({ code: 4404 })
    expect((await tenant.client.documents.get({ organizationId: 'org_1' })).data).toEqual([])
  })

  test('[R43] a client whose token expired gets a new one from its application and continues', async () => {
    const own = await startServer(anyStore)
    onTestFinished(() => own.stop())
    const manager = ySweetManager(own, await given.tenant(own))
    await manager.createDoc('doc')
    let tokens = 0
    const zoe = ySweetClient(
      () => {
        tokens++
        return manager.getClientToken('doc', { userId: 'zoe', validForSeconds: 60 })
      },
      { docId: 'doc' },
    )
    await synced(zoe)
    const end = new Promise<CloseEvent>((resolve) =>
      zoe.provider.once('connection-close', (event) => resolve(event as CloseEvent)),
    )
    own.clock.offsetMs = 61_000
    expect(await end).toMatchObject({ code: 4401, reason: expect.stringContaining('token_expired') })
    zoe.text.insert(0, 'typed meanwhile')
    await expect.poll(() => tokens, { timeout: 20_000 }).toBe(2)
    await expect.poll(() => zoe.provider.hasLocalChanges, { timeout: 20_000 }).toBe(false)
    const update = await manager.getDocAsUpdate('doc')
    const doc = new Y.Doc()
    Y.applyUpdate(doc, update)
    expect(doc.getText('content').toJSON()).toBe('typed meanwhile')
  })

  test('[R44] [R8.3] a client that sends an invalid message is closed with a reason, and after a second if it does so again', async () => {
    const { manager } = await scene()
    const messages = [
      Uint8Array.of(0, 9, 0), // unknown kind of sync message
      Uint8Array.of(0, 2, 3, 255, 255, 255), // malformed update
      Uint8Array.of(102, 5), // sync status without a version
      Buffer.alloc(2 * 1024 * 1024), // above the maximum message size
    ]
    const outcomes = messages.map(async (message, index) => {
      const { url, docId, token = '' } = await manager.getClientToken(editorName, { userId: `user ${index}` })
      const send = async () => {
        const { pathname } = new URL(url)
        // Taken before the server's delay begins, because a busy machine may report `open` to the client much later.
        const startedAt = performance.now()
        const socket = new RawSocket(server.one, `${pathname}/${docId}?token=${token}`)
        // The first message of the server shows that it has authorized the client and reads its messages.
        await socket.receivedCount(1)
        socket.send(message)
        const { code, reason } = await socket.closed
        return { code, hasReason: reason !== '', tookMs: performance.now() - startedAt }
      }
      const { code, hasReason } = await send()
      const again = await send()
      return { code, hasReason, isSame: again.code === code, isLater: again.tookMs > 950 }
    })
    expect(await Promise.all(outcomes)).toEqual(
      [4400, 4422, 4400, 4422].map((code) => ({ code, hasReason: true, isSame: true, isLater: true })),
    )
  })

  test('[R45] a client that had a deleted document open is closed with 4404, also when it reconnects, and does not create it again', async () => {
    const { tenant, join } = await scene()
    const zoe = join('zoe')
    await synced(zoe)
    zoe.text.insert(0, 'Hello')
    await eventually(() => zoe.provider.hasLocalChanges).toBe(false)
    const codes: number[] = []
    zoe.provider.on('connection-close', (event) => codes.push((event as CloseEvent).code))
    await tenant.client.documents.delete({ organizationId: 'org_1', documentIds: ['doc_1'] })
    await expect.poll(() => codes).toEqual([4404, 4404])
    expect((await tenant.client.documents.get({ organizationId: 'org_1' })).data).toEqual([])
  })

  test('[R40] a client is refused if the two ids in its path differ or have a wrong form, and if its token is missing or invalid', async () => {
    const { manager } = await scene()
    const { token } = await manager.getClientToken(editorName)
    const closeAt = (path: string) => new RawSocket(server, `/y-sweet/d/${path}`).closed
    expect(await closeAt(`${editorName}/ws/${editorName}`)).toMatchObject({ code: 4401 })
    expect(await closeAt(`${editorName}/ws/${editorName}?token=x`)).toMatchObject({ code: 4401 })
    for (const path of ['a/b/ws/a/b', `${editorName}/ws/org_1/doc_1/other`, editorName]) {
      expect(await closeAt(`${path}?token=${token}`)).toMatchObject({
        code: 4400,
        reason: expect.stringContaining('docId'),
      })
    }
  })
})

describe('the sync status of Y-Sweet', () => {
  test('[R50] the sync status reports a change as saved only when it is on disk, including changes made before connecting', async () => {
    const disk = heldDisk()
    const server = await startServer('sqlite', { sync: disk.sync })
    onTestFinished(() => server.stop())
    onTestFinished(disk.release)
    const manager = ySweetManager(server, await given.tenant(server))
    await manager.createDoc('doc')
    const authEndpoint = () => manager.getClientToken('doc', { userId: 'zoe' })
    const reader = ySweetClient(authEndpoint, { docId: 'doc' })
    await synced(reader)

    disk.hold()
    const doc = new Y.Doc()
    doc.getText('content').insert(0, 'before ')
    const zoe = ySweetClient(authEndpoint, { docId: 'doc', doc })
    await synced(zoe)
    await eventually(disk.waiting).toBeGreaterThan(0)
    expect(zoe.provider.hasLocalChanges).toBe(true)
    disk.release()
    await eventually(() => zoe.provider.hasLocalChanges).toBe(false)
    await eventually(() => reader.text.toJSON()).toBe('before ')

    disk.hold()
    zoe.text.insert(7, 'after')
    await eventually(disk.waiting).toBeGreaterThan(0)
    expect(zoe.provider.hasLocalChanges).toBe(true)
    expect(reader.text.toJSON()).toBe('before ')
    disk.release()
    await eventually(() => zoe.provider.hasLocalChanges).toBe(false)
    await eventually(() => reader.text.toJSON()).toBe('before after')
  })

  test('[R50.1] a client gets messages and stays connected while its change waits for the disk', async () => {
    const disk = heldDisk()
    const server = await startServer('sqlite', { sync: disk.sync })
    onTestFinished(() => server.stop())
    onTestFinished(disk.release)
    const manager = ySweetManager(server, await given.tenant(server))
    await manager.createDoc('doc')
    const zoe = ySweetClient(() => manager.getClientToken('doc'), { docId: 'doc' })
    await synced(zoe)
    await eventually(() => zoe.provider.hasLocalChanges).toBe(false)
    let ends = 0
    zoe.provider.on('connection-close', () => ends++)
    disk.hold()
    zoe.text.insert(0, 'x')
    // The client pings after 2 s of silence. It disconnects if no message arrives within 3 s after a ping or a change.
    const { websocket } = zoe.provider as unknown as { websocket: WebSocket }
    for (let messages = 0; messages < 3; messages++) {
      await new Promise((resolve) => websocket.addEventListener('message', resolve, { once: true }))
    }
    expect([ends, zoe.provider.hasLocalChanges]).toEqual([0, true])
  })
})
