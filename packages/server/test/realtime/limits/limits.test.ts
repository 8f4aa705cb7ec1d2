import { once } from 'node:events'
import { describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import * as Y from 'yjs'
import * as given from '../../support/given.ts'
import { anyStore, startServer, stores, useServer } from '../../support/harness.ts'
import { appendUpdates } from '../../support/data/editors.ts'
import { synced } from '../../support/clients/convergence.ts'
import { hocuspocusClient } from '../../support/clients/hocuspocus-client.ts'
import { editorName } from '../../support/clients/open-clients.ts'
import { RealtimeSocket } from '../../support/clients/realtime-socket.ts'
import { RawSocket, socketUrl } from '../../support/clients/raw-socket.ts'
import { yjsClient } from '../../support/clients/yjs-client.ts'
import { tokenFor } from '../../support/access/user-tokens.ts'

describe('clients that use too many resources', () => {
  const server = useServer(anyStore)

  test('[R14] [R14.1] a slow reader does not stop the updates to other clients, is closed with 4008, and gets the whole text when it reconnects', async () => {
    const tenant = await given.tenant(server)
    const token = await tokenFor(tenant)
    const [ada, bob] = [yjsClient(server, token), yjsClient(server, await tokenFor(tenant, 'bob'))]
    await synced(ada, bob)
    const slow = await RawSocket.connect(server, `/yjs/${editorName}?token=${token}`)
    slow.socket.pause()

    // The 15 blocks are more than the kernel buffers for a paused reader plus the 1 MiB that the server buffers.
    const block = 'x'.repeat(400_000)
    for (let sent = 0; sent < 15; sent++) {
      ada.text.insert(0, block)
      await expect.poll(() => bob.text.length, { interval: 1 }).toBe((sent + 1) * block.length)
    }
    slow.socket.resume()
    expect(await slow.closed).toEqual({ code: 4008, reason: 'The client reads too slowly.' })

    const back = yjsClient(server, token)
    await synced(back)
    expect(back.text.length).toBe(15 * block.length)
  })

  test('[R14.2] a document larger than the send buffer limit reaches a new client', async () => {
    const tenant = await given.tenant(server)
    const token = await tokenFor(tenant)
    const ada = yjsClient(server, token)
    await synced(ada)
    for (let part = 0; part < 8; part++) ada.text.insert(0, `${part}`.repeat(500_000))
    const late = yjsClient(server, token)
    await synced(late)
    await expect.poll(() => late.text.length, { timeout: 20_000 }).toBe(4_000_000)
  })

  test('[R8.3] a message above the maximum size closes the connection with 4422 at /yjs, and with 1009 at /hocuspocus and /realtime', async () => {
    const tenant = await given.tenant(server)
    const token = await tokenFor(tenant)
    for (const [path, code] of [
      [`/yjs/${editorName}`, 4422],
      ['/hocuspocus', 1009],
      ['/realtime', 1009],
    ] as const) {
      const socket = await RawSocket.connect(server, `${path}?token=${token}`)
      socket.send(Buffer.alloc(3 * 1024 * 1024))
      expect(await socket.closed).toEqual({ code, reason: 'A message has at most 1 MiB and 64 KiB.' })
    }
  })

  test('[R8.1] [R8.3] a y-websocket client with an update that is too large is closed with 4422 and does not reconnect', async () => {
    const tenant = await given.tenant(server)
    const ada = yjsClient(server, await tokenFor(tenant))
    await synced(ada)
    const ended = new Promise<{ code: number }>((resolve) => ada.provider.on('closed', resolve))
    ada.text.insert(0, 'x'.repeat(1_500_000))
    expect(await ended).toMatchObject({ code: 4422 })
    expect(ada.provider.shouldConnect).toBe(false)
  })

  test('[R16.4] connections to unknown paths are refused with HTTP 404, and connections above LIMIT_CONNECTIONS with 503', async () => {
    const refused = async (url: string) => {
      const socket = new WebSocket(url)
      const [, response] = await once(socket, 'unexpected-response')
      const chunks: Buffer[] = []
      for await (const chunk of response) chunks.push(chunk)
      return { status: response.statusCode, body: JSON.parse(Buffer.concat(chunks).toString()) }
    }
    for (const path of ['/', '/yjsa', '/hocuspocus/a', '/v2/crdt/get']) {
      expect(await refused(socketUrl(server, path))).toMatchObject({
        status: 404,
        body: { error: { status: 'NOT_FOUND' } },
      })
    }
    const small = await startServer('sqlite', { env: { LIMIT_CONNECTIONS: '1' } })
    const tenant = await given.tenant(small)
    const token = await tokenFor(tenant)
    const first = yjsClient(small, token)
    await synced(first)
    expect(await refused(socketUrl(small, `/yjs/${editorName}?token=${token}`))).toMatchObject({
      status: 503,
      body: { error: { status: 'UNAVAILABLE' } },
    })
    first.provider.destroy()
    await small.stop()
  })
})

describe('clients that do not identify themselves', () => {
  const server = useServer(anyStore, { clockSpeed: 5 })

  test('[R16] [R16.3] a socket that sends no token in time, or too much data before it, is closed', async () => {
    for (const [path, code] of [
      // Providers may attach to the socket later, so clients reconnect after this code.
      ['/hocuspocus', 4008],
      ['/realtime', 4401],
    ] as const) {
      const silent = new RawSocket(server, path)
      expect(await silent.closed).toMatchObject({ code, reason: expect.stringContaining('token_missing') })
      const loud = await RawSocket.connect(server, path)
      // The server counts the bytes as they arrive, so it closes the socket although the message never ends.
      loud.socket.send(Buffer.alloc(30_000), { fin: false })
      expect(await loud.closed).toMatchObject({ code: 4400 })
    }
  })
})

describe.each(stores)('compaction on %s', (store) => {
  const document = { organizationId: 'org_1', documentId: 'doc_1' }
  const server = useServer(store)

  test('[R7.1] the log of an editor with 760 updates is compacted, and clients and REST read the whole text', async () => {
    const tenant = await given.tenant(server)
    const doc = new Y.Doc()
    const stored: Uint8Array[] = []
    doc.on('update', (update: Uint8Array) => stored.push(update))
    for (let typed = 0; typed < 740; typed++) doc.getText('content').insert(typed, 'x')
    const create = { type: 'text', contentKey: 'content' } as const
    await appendUpdates(server, tenant, { ...document, editorId: 'note' }, stored, { create })
    const ada = yjsClient(server, await tokenFor(tenant))
    await synced(ada)
    // Waiting for each echo before typing again gives each update its own row.
    for (let typed = 0; typed < 20; typed++) {
      const echo = once(ada.provider.ws as unknown as WebSocket, 'message')
      ada.text.insert(typed, 'x')
      await echo
    }
    const rows = async () => {
      const [log] = await server.database.read
        .selectFrom('editor_updates')
        .select((eb) => eb.fn.countAll<number>().as('rows'))
        .where('api_key', '=', tenant.apiKey)
        .execute()
      return Number(log?.rows)
    }
    // On PostgreSQL, servers wait differently long, but at most for 750 updates, so that they do not all compact at once.
    await expect.poll(rows).toBeLessThan(100)
    const late = yjsClient(server, await tokenFor(tenant, 'bob'))
    await synced(late)
    expect(late.text.length).toBe(760)
    const { data } = await tenant.client.crdt.get(document)
    expect(data[0]?.data).toBe('x'.repeat(760))
  })
})

describe('server shutdown', () => {
  test('[R15] a server that stops closes the connections of 60 clients at different times, so that they do not reconnect together', async () => {
    const server = await startServer(anyStore)
    const token = await tokenFor(await given.tenant(server))
    const sockets = await Promise.all(
      Array.from({ length: 60 }, () => RawSocket.connect(server, `/yjs/${editorName}?token=${token}`)),
    )
    const closedAt: number[] = []
    const allClosed = Promise.all(
      sockets.map((socket) => socket.closed.then(() => closedAt.push(performance.now()))),
    )
    await server.stop()
    await allClosed
    // At random times within 300 ms.
    expect(Math.max(...closedAt) - Math.min(...closedAt)).toBeGreaterThan(150)
  })

  test('[R15] the few clients of a server that stops are asked to reconnect soon', async () => {
    const server = await startServer(anyStore)
    const token = await tokenFor(await given.tenant(server))
    const clients = await Promise.all([1, 2, 3, 4].map(() => RealtimeSocket.connect(server, token)))
    await server.stop()
    for (const client of clients) expect((await client.take('moved')).retryAfterMs).toBeLessThanOrEqual(4 * 5)
  })

  test('[R15] a server that stops asks its clients to reconnect, and stores everything they sent', async () => {
    const server = await startServer(anyStore)
    const tenant = await given.tenant(server)
    const token = await tokenFor(tenant)
    const [ada, hal] = [yjsClient(server, token), hocuspocusClient(server, token)]
    await synced(ada, hal)
    const raw = await RawSocket.connect(server, `/yjs/${editorName}?token=${token}`)
    ada.text.insert(0, 'last words ')
    hal.text.insert(0, 'and more ')
    await expect.poll(() => ada.text.length).toBe(20)
    const restarted = await server.restart()
    expect(await raw.closed).toEqual({ code: 1012, reason: 'The server is shutting down.' })
    const reader = yjsClient(restarted, token)
    await synced(reader)
    expect(reader.text.toString()).toContain('last words')
    expect(reader.text.toString()).toContain('and more')
    ada.provider.destroy()
    hal.provider.destroy()
    reader.provider.destroy()
    await restarted.stop()
  })
})
