import { once } from 'node:events'
import * as encoding from 'lib0/encoding'
import * as decoding from 'lib0/decoding'
import { afterEach, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import * as Y from 'yjs'
import * as given from '../support/given.ts'
import { startServer, type TestServer, useServer } from '../support/harness.ts'
import { heldDisk } from '../support/faults/held-disk.ts'
import { converged, eventually, synced } from '../support/clients/convergence.ts'
import { hocuspocusClient, hocuspocusSocket } from '../support/clients/hocuspocus-client.ts'
import { closeClients, editorName } from '../support/clients/open-clients.ts'
import { closed, socketUrl } from '../support/clients/raw-socket.ts'
import { yjsClient } from '../support/clients/yjs-client.ts'
import { interruptibleNetwork, plenumConnection } from '../support/clients/plenum-client.ts'
import { tokenFor } from '../support/access/user-tokens.ts'
import { loseNextCommitAnswer, withPostgres, withProxiedPostgres } from '../support/faults/postgres-faults.ts'
import { RealtimeSocket } from '../support/clients/realtime-socket.ts'

const stops: (() => unknown)[] = []
afterEach(async () => {
  closeClients()
  for (const stop of stops.splice(0).toReversed()) await stop()
})

const rowsOf = ({ database }: TestServer) =>
  database.read.selectFrom('editor_updates').select(['document_id', 'editor_id', 'seq', 'user_id']).execute()

/** A frame of y-websocket. */
const frame = (type: number, bytes: Uint8Array) =>
  encoding.encode((encoder) => {
    encoding.writeVarUint(encoder, 0)
    encoding.writeVarUint(encoder, type)
    encoding.writeVarUint8Array(encoder, bytes)
  })

/**
 * Makes 20 requests, so that the server has time to read the messages sent so far, if it has not stopped reading: server
 * and clients share the event loop of this process.
 */
async function manyTurns(tenant: given.Tenant): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await tokenFor(tenant)
}

describe('a failing database', () => {
  test('[R7] an update is not stored if the update before it could not be stored', async () => {
    const { server, tenant, block, blocked, terminate } = await withPostgres()
    const ada = yjsClient(server, await tokenFor(tenant))
    await synced(ada)
    ada.text.insert(0, 'a')
    await eventually(() => rowsOf(server)).toHaveLength(1)

    const unblock = await block(`select * from editors for update`)
    ada.text.insert(1, 'b')
    await eventually(blocked).toHaveLength(1)
    ada.text.insert(2, 'c')
    // Waits until the server has the update: messages on one socket are read in order.
    ada.provider.awareness.setLocalStateField('read', true)
    const bob = yjsClient(server, await tokenFor(tenant, 'bob'))
    await eventually(() => [...bob.provider.awareness.getStates().values()].some((state) => state.read)).toBe(
      true,
    )
    const [pid] = await blocked()
    ada.provider.disconnect()
    await terminate(pid as number)
    await unblock()

    await synced(bob)
    expect(bob.text.toString()).toBe('a')
    ada.provider.connect()
    await converged(ada.doc, bob.doc)
    expect(bob.text.toString()).toBe('abc')
    closeClients()
    const carol = yjsClient(server, await tokenFor(tenant, 'carol'))
    await synced(carol)
    expect(carol.text.toString()).toBe('abc')
  })

  test('[K7] [R7] a client that reconnects reports a change as saved only when it is stored', async () => {
    const { server, tenant, block, blocked } = await withPostgres()
    const network = interruptibleNetwork()
    const { WebSocket } = network
    const connection = plenumConnection(server.client(), await tokenFor(tenant), { WebSocket })
    const editor = connection.document('org_1', 'doc_1').editor('note')
    await editor.whenSynced
    const text = editor.doc.getText('content')
    text.insert(0, 'a')
    await editor.whenSaved()

    const unblock = await block(`select * from editors for update`)
    text.insert(1, 'b')
    await eventually(blocked).toHaveLength(1)
    network.cut()
    network.restore(connection)
    await eventually(() => network.of('editorOpened')).toHaveLength(1)
    await manyTurns(tenant)
    expect(editor.saved).toBe(false)
    await unblock()
    await editor.whenSaved()
    expect(await rowsOf(server)).toHaveLength(2)
  })

  test('[R7] [O2.4] an update whose commit was not confirmed reaches the clients that were already connected', async () => {
    const { proxy, server, tenant } = await withProxiedPostgres()
    const ada = yjsClient(server, await tokenFor(tenant))
    const bob = yjsClient(server, await tokenFor(tenant, 'bob'))
    await synced(ada, bob)
    ada.text.insert(0, 'a')
    await converged(ada.doc, bob.doc)
    // Only the server has the last update: its sender disconnects.
    ada.provider.on('status', () => ada.provider.disconnect())
    loseNextCommitAnswer(proxy, 400)
    ada.text.insert(1, 'b')
    await eventually(() => bob.text.toString()).toBe('ab')
  })

  test('[R7] [O1] the server closes connections with 4503 while the database is unreachable, and clients continue afterwards', async () => {
    const { proxy, server, tenant } = await withProxiedPostgres()
    const token = await tokenFor(tenant)
    const [ada, bob] = [yjsClient(server, token), yjsClient(server, await tokenFor(tenant, 'bob'))]
    const hal = hocuspocusClient(server, token)
    await synced(ada, bob, hal)
    const codes: number[] = []
    for (const { provider } of [ada, bob])
      provider.on('connection-close', (event) => codes.push(event?.code ?? 0))
    hal.socket.on('close', ({ event }: { event: { code: number } }) => codes.push(event.code))
    const typing = setInterval(() => {
      for (const { text } of [ada, bob, hal]) text.insert(0, 'x')
    }, 10)
    await eventually(() => bob.text.length).toBeGreaterThan(10)
    proxy.refuse()
    proxy.cut()
    await eventually(() => codes.length).toBeGreaterThan(6)
    proxy.restore()
    await eventually(() => ada.provider.synced && bob.provider.synced && hal.provider.isSynced).toBe(true)
    clearInterval(typing)
    await converged(ada.doc, bob.doc, hal.doc)
    expect(new Set(codes)).toEqual(new Set([4503]))
    const late = yjsClient(server, token)
    await eventually(() => late.text.length).toBe(ada.text.length)
  })

  test('[R7] [8.4.4] an update that waits while its document is deleted is not stored in a new document with the same id', async () => {
    const { proxy, server, tenant } = await withProxiedPostgres()
    const [ada, bob] = [
      yjsClient(server, await tokenFor(tenant)),
      yjsClient(server, await tokenFor(tenant, 'bob'), { name: 'org_1/doc_2/x' }),
    ]
    await synced(ada, bob)
    ada.text.insert(0, 'a')
    bob.text.insert(0, 'a')
    await eventually(() => rowsOf(server)).toHaveLength(2)
    const carol = yjsClient(server, await tokenFor(tenant, 'carol'))
    await synced(carol)

    // The commit of bob's text is held, and ada's text has to wait for it.
    const commit = proxy.hold('commit')
    bob.text.insert(1, 'b')
    await commit.arrived
    ada.text.insert(1, 'b')
    ada.provider.awareness.setLocalStateField('read', true)
    const isRead = () => [...carol.provider.awareness.getStates().values()].some((state) => state.read)
    await eventually(isRead).toBe(true)
    ada.provider.disconnect()
    carol.provider.destroy()
    const document = { organizationId: 'org_1', documentId: 'doc_1' }
    await tenant.client.documents.delete({ organizationId: 'org_1', documentIds: ['doc_1'] })
    await tenant.client.crdt.add({ ...document, editorId: 'note', type: 'text', data: 'new' })
    expect((await rowsOf(server)).map((row) => row.document_id)).toEqual(['doc_2', 'doc_1'])
    commit.release()
    await eventually(() => rowsOf(server)).toHaveLength(3)
    // New text is stored after the waiting updates.
    bob.text.insert(2, 'c')
    await eventually(() => rowsOf(server)).toHaveLength(4)
    expect((await rowsOf(server)).filter((row) => row.document_id === 'doc_1')).toHaveLength(1)
    const dora = yjsClient(server, await tokenFor(tenant, 'dora'))
    await synced(dora)
    expect(dora.text.toString()).toBe('new')
  })

  test('[S1] an editor locked by another writer does not delay an editor of another tenant', async () => {
    const { server, tenant, block, blocked } = await withPostgres()
    const other = await given.tenant(server)
    const [ada, bob] = [
      yjsClient(server, await tokenFor(tenant)),
      yjsClient(server, await tokenFor(other, 'bob')),
    ]
    const carol = yjsClient(server, await tokenFor(other, 'carol'))
    await synced(ada, bob, carol)
    ada.text.insert(0, 'a')
    bob.text.insert(0, 'a')
    await eventually(() => rowsOf(server)).toHaveLength(2)

    // Locks the rows like a REST write of a large document.
    const unblock = await block(`select * from editors where api_key = '${tenant.apiKey}' for update`)
    ada.text.insert(1, 'b')
    bob.text.insert(1, 'b')
    await eventually(blocked).toHaveLength(1)
    ada.text.insert(2, 'c')
    await eventually(() => carol.text.toString()).toBe('ab')
    for (let typed = 0; typed < 5; typed++) {
      bob.text.insert(0, 'x')
      await eventually(() => carol.text.length).toBe(3 + typed)
    }
    expect(await blocked()).toHaveLength(1)
    await unblock()
    const dora = yjsClient(server, await tokenFor(tenant, 'dora'))
    await eventually(() => dora.text.toString()).toBe('abc')
  })

  test('[S1] an editor that is created in a locked document does not delay an editor of another tenant', async () => {
    const { server, tenant, block, blocked } = await withPostgres()
    const other = await given.tenant(server)
    const ada = yjsClient(server, await tokenFor(tenant))
    const [bob, carol] = [
      yjsClient(server, await tokenFor(other, 'bob')),
      yjsClient(server, await tokenFor(other, 'carol')),
    ]
    await synced(ada, bob, carol)
    const unblock = await block(`select * from documents where api_key = '${tenant.apiKey}' for update`)
    ada.text.insert(0, 'a')
    await eventually(blocked).toHaveLength(1)
    for (let typed = 1; typed <= 5; typed++) {
      bob.text.insert(0, 'x')
      await eventually(() => carol.text.length).toBe(typed)
    }
    expect(await blocked()).toHaveLength(1)
    await unblock()
    const dora = yjsClient(server, await tokenFor(tenant, 'dora'))
    await eventually(() => dora.text.toString()).toBe('a')
  })

  test('[R16.1] a client that has sent its token stays connected beyond the authentication timeout while the database is slow', async () => {
    const { server, tenant, block } = await withPostgres()
    const token = await tokenFor(tenant)
    const unblock = await block('lock table api_keys in access exclusive mode')
    const hal = hocuspocusClient(server, token)
    const codes: number[] = []
    hal.socket.on('close', ({ event }: { event: { code: number } }) => codes.push(event.code))
    await eventually(() => hal.socket.status).toBe('connected')
    // This silent client connects after hal. When it is closed, the authentication timeout of hal has passed too.
    expect(await closed(new WebSocket(socketUrl(server, '/realtime')))).toMatchObject({ code: 4401 })
    await unblock()
    await synced(hal)
    expect(codes).toEqual([])
  })

  test('[R16.4] LIMIT_CONNECTIONS includes connections whose token is still being checked', async () => {
    const { databaseUrl, tenant, block } = await withPostgres()
    const token = await tokenFor(tenant)
    const limited = await startServer('postgres', {
      env: { LIMIT_CONNECTIONS: '2' },
      data: { dataDir: `/tmp/unused-${process.pid}`, databaseUrl },
    })
    stops.push(() => limited.stop())
    const unblock = await block('lock table api_keys in access exclusive mode')
    const sockets = Array.from({ length: 5 }, () => {
      const socket = new WebSocket(socketUrl(limited, `/yjs/${editorName}?token=${token}`))
      socket.on('error', () => {})
      return socket
    })
    const refused = await Promise.all(
      sockets.map((socket) =>
        Promise.race([
          once(socket, 'unexpected-response').then(([, response]) => response.statusCode as number),
          once(socket, 'open').then(() => 101),
        ]),
      ),
    )
    expect(refused.toSorted()).toEqual([101, 101, 503, 503, 503])
    await unblock()
    for (const socket of sockets) socket.terminate()
  })
})

describe('many documents opened at once', () => {
  test('[R16.5] on PostgreSQL, a client opens 100 documents at once, and another tenant does not wait for all of them', async () => {
    const { server, tenant } = await withPostgres()
    const other = await given.tenant(server)
    const token = await tokenFor(other)
    const crowd = await RealtimeSocket.connect(server, await tokenFor(tenant))
    const place = { organizationId: 'org_1', topics: [] }
    for (let ref = 1; ref <= 100; ref++) crowd.send({ type: 'open', ref, documentId: `d${ref}`, ...place })
    crowd.send({ type: 'ping' })
    await crowd.take('pong')
    const alone = yjsClient(server, token)
    await synced(alone)
    expect(crowd.messages.length).toBeLessThan(100)
    const opened = () => crowd.messages.filter(({ type }) => type === 'opened').length
    await expect.poll(opened, { timeout: 50_000 }).toBe(100)
    expect(server.logged.filter((line) => line.includes('"level":"error"'))).toEqual([])
  })

  test('[R9] [R9.1] a client that is opening 100 documents loses an open document at once when its organization is disabled', async () => {
    const { server, tenant } = await withPostgres()
    const crowd = await RealtimeSocket.connect(server, await tokenFor(tenant))
    const place = { organizationId: 'org_1', topics: [] }
    await crowd.open('d0', { ref: 1, topics: [] })
    for (let ref = 2; ref <= 100; ref++) crowd.send({ type: 'open', ref, documentId: `d${ref}`, ...place })
    crowd.send({ type: 'ping' })
    await crowd.take('pong')
    await tenant.client.organizations.updateDisableState({ organizationIds: ['org_1'], disabled: true })
    expect(await crowd.take('closed', { ref: 1 })).toMatchObject({ code: 4403 })
    expect(crowd.messages.length).toBeLessThan(67)
  })
})

describe('an update that is not durable yet', () => {
  test('[R1.2] updates that are not durable yet are sent neither to joining clients nor when another write makes the server read the log', async () => {
    const disk = heldDisk()
    const server = await startServer('sqlite', { sync: disk.sync })
    stops.push(() => server.stop())
    const tenant = await given.tenant(server)
    const [token, bobs] = [await tokenFor(tenant), await tokenFor(tenant, 'bob')]
    const [ada, bob] = [yjsClient(server, token), yjsClient(server, bobs)]
    await synced(ada, bob)
    ada.text.insert(0, 'a')
    await converged(ada.doc, bob.doc)

    disk.hold()
    ada.text.insert(1, 'b')
    const document = { organizationId: 'org_1', documentId: 'doc_1' }
    const added = tenant.client.crdt.add({ ...document, editorId: 'other', type: 'text', data: 'new' })
    await eventually(() => rowsOf(server)).toHaveLength(3)
    // Publishes the message of a REST write that has just become durable.
    server.bus.publish({ kind: 'editor', apiKey: tenant.apiKey, ...document, editorId: 'note' })
    const joining = yjsClient(server, bobs, { name: 'org_1/doc_1/other' })
    await eventually(() => joining.provider.wsconnected).toBe(true)
    await manyTurns(tenant)
    expect(bob.text.toString()).toBe('a')
    expect(joining.text.toString()).toBe('')
    disk.release()
    await added
    await eventually(() => [bob.text.toString(), joining.text.toString()]).toEqual(['ab', 'new'])
  })
})

describe('many documents on one connection', () => {
  const server = useServer('sqlite', { isOwn: true })

  test('[R9] a document deleted before its updates are stored does not delay other documents on the connection', async () => {
    const tenant = await given.tenant(server)
    const socket = hocuspocusSocket(server)
    const token = await tokenFor(tenant)
    const open = (id: string) => hocuspocusClient(server, token, { socket, name: `org_1/${id}/note` })
    const [first, second] = [open('doc_1'), open('doc_2')]
    await synced(first, second)
    let hasClosed = false
    socket.on('close', () => (hasClosed = true))
    let release = () => {}
    const busy = server.database.write(() => new Promise<void>((resolve) => (release = resolve)))
    const deleted = tenant.client.documents.delete({ organizationId: 'org_1', documentIds: ['doc_1'] })
    await manyTurns(tenant)
    // More bytes than may wait in a room before the server stops reading from its senders.
    for (let part = 0; part < 3; part++) first.text.insert(0, `${part}`.repeat(200_000))
    await manyTurns(tenant)
    release()
    await Promise.all([busy, deleted])
    second.text.insert(0, 'still here')
    const reader = yjsClient(server, token, { name: 'org_1/doc_2/note' })
    await eventually(() => reader.text.toString()).toBe('still here')
    expect(hasClosed).toBe(false)
  })

  test('[R9] [R9.1] a backend whose auth token was reset cannot open another document on its open connection', async () => {
    const tenant = await given.tenant(server)
    const socket = new WebSocket(socketUrl(server, '/hocuspocus'), { headers: tenant.headers })
    await once(socket, 'open')
    const received: string[] = []
    socket.on('message', (data: Buffer) => received.push(data.toString('latin1')))
    const ask = (name: string) =>
      socket.send(
        encoding.encode((encoder) => {
          encoding.writeVarString(encoder, name)
          encoding.writeVarUint(encoder, 0)
          encoding.writeVarUint(encoder, 0)
          encoding.writeVarUint8Array(encoder, Uint8Array.of(0))
        }),
      )
    ask('org_1/doc_1/note')
    await eventually(() => received.some((message) => message.includes('read-write'))).toBe(true)
    await tenant.client.authTokens.reset({ apiKey: tenant.apiKey })
    received.length = 0
    ask('org_1/doc_2/note')
    await eventually(() => received.join()).toContain('token_invalid')
    expect(received.join()).not.toContain('read-write')
    socket.terminate()
  })
})

describe('a client that sends too much', () => {
  const server = useServer('sqlite', { isOwn: true })

  test('[R14] a client that requests the document 200 times at once gets fewer than 50 answers and all content', async () => {
    const tenant = await given.tenant(server)
    const token = await tokenFor(tenant)
    const ada = yjsClient(server, token)
    await synced(ada)
    for (let part = 0; part < 4; part++) ada.text.insert(0, `${part}`.repeat(500_000))
    await eventually(() => rowsOf(server)).not.toHaveLength(0)
    const bob = yjsClient(server, token)
    await eventually(() => bob.text.length).toBe(2_000_000)

    const greedy = new WebSocket(socketUrl(server, `/yjs/${editorName}?token=${token}`))
    let answers = 0
    const doc = new Y.Doc()
    greedy.on('message', (data: Buffer) => {
      if (data[0] !== 0 || data[1] === 0) return
      if (data[1] === 1) answers++
      Y.applyUpdate(doc, decoding.readVarUint8Array(decoding.createDecoder(data.subarray(2))))
    })
    await once(greedy, 'open')
    for (let asked = 0; asked < 200; asked++) greedy.send(frame(0, Uint8Array.of(0)))
    await eventually(() => answers).toBeGreaterThan(0)
    ada.text.insert(0, 'x')
    await eventually(() => doc.getText('content').length).toBe(2_000_001)
    expect(answers).toBeLessThan(50)
    greedy.terminate()
  })

  test('[R8] large updates of many editors are stored in several transactions', async () => {
    const tenant = await given.tenant(server)
    const token = await tokenFor(tenant)
    let release = () => {}
    const open = async (editorId: string) => {
      const client = yjsClient(server, token, { name: `org_1/large/${editorId}` })
      await synced(client)
      return client
    }
    const clients = await Promise.all(Array.from({ length: 7 }, (_, index) => open(`e${index}`)))
    const busy = server.database.write(() => new Promise<void>((resolve) => (release = resolve)))
    for (const { text } of clients) text.insert(0, 'x'.repeat(1_000_000))
    await eventually(() => clients.every(({ provider }) => provider.ws?.bufferedAmount === 0)).toBe(true)
    await manyTurns(tenant)
    release()
    await busy
    // Reads the table of editors, not the log: editors of this size are soon compacted.
    const stored = () =>
      server.database.read
        .selectFrom('editors')
        .select('last_updated')
        .where('document_id', '=', 'large')
        .execute()
    await eventually(stored).toHaveLength(7)
    const editorsAt = new Map<number, number>()
    for (const { last_updated: at } of await stored()) editorsAt.set(at, (editorsAt.get(at) ?? 0) + 1)
    expect(Math.max(...editorsAt.values())).toBeLessThanOrEqual(5)
  })

  test('[R8] 1,500 small updates that arrive together are stored in at least 3 batches', async () => {
    const tenant = await given.tenant(server)
    const doc = new Y.Doc()
    const updates: Uint8Array[] = []
    doc.on('update', (update: Uint8Array) => updates.push(update))
    for (let typed = 0; typed < 1_500; typed++) doc.getText('content').insert(0, 'x')
    const socket = new WebSocket(socketUrl(server, `/yjs/org_1/many/note?token=${await tokenFor(tenant)}`))
    await once(socket, 'open')
    for (const update of updates) socket.send(frame(2, update))
    const reader = yjsClient(server, await tokenFor(tenant, 'bob'), { name: 'org_1/many/note' })
    await eventually(() => reader.text.length).toBe(1_500)
    const rows = (await rowsOf(server)).filter((row) => row.document_id === 'many')
    expect(rows.length).toBeGreaterThanOrEqual(3)
    socket.terminate()
  })
})

describe('a server that stops', () => {
  test('[R15] a server that stops waits neither for clients that keep sending nor for clients that are connecting', async () => {
    const { server, tenant, block } = await withPostgres()
    const token = await tokenFor(tenant)
    const raw = new WebSocket(socketUrl(server, `/yjs/${editorName}?token=${token}`))
    await once(raw, 'open')
    const doc = new Y.Doc()
    doc.on('update', (update: Uint8Array) => raw.readyState === WebSocket.OPEN && raw.send(frame(2, update)))
    const typing = setInterval(() => doc.getText('content').insert(0, 'x'), 1)
    const end = closed(raw)
    await eventually(() => rowsOf(server)).not.toHaveLength(0)
    const unblock = await block('lock table api_keys in access exclusive mode')
    const late = new WebSocket(socketUrl(server, `/yjs/org_1/doc_2/note?token=${token}`))
    const lateEnd = closed(late)
    await once(late, 'open')
    const stopped = server.server.stop()
    expect(await end).toMatchObject({ code: 1012 })
    expect(await lateEnd).toMatchObject({ code: 1012 })
    // The stop did not wait for the lock.
    await unblock()
    await stopped
    clearInterval(typing)
  })
})
