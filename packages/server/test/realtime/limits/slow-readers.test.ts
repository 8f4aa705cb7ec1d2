import type { Socket } from 'node:net'
import { beforeAll, describe, expect, test } from 'vitest'
import type { WebSocket } from 'ws'
import * as Y from 'yjs'
import * as given from '../../support/given.ts'
import { anyStore, useServer } from '../../support/harness.ts'
import { eventually, synced } from '../../support/clients/convergence.ts'
import { appendUpdates } from '../../support/data/editors.ts'
import { hocuspocusClient, saved } from '../../support/clients/hocuspocus-client.ts'
import { editorName } from '../../support/clients/open-clients.ts'
import { encodeMessage } from '../../support/clients/encode-message.ts'
import { RawSocket } from '../../support/clients/raw-socket.ts'
import { plenumConnection } from '../../support/clients/plenum-client.ts'
import { RealtimeSocket } from '../../support/clients/realtime-socket.ts'
import { yjsClient } from '../../support/clients/yjs-client.ts'
import { tokenFor } from '../../support/access/user-tokens.ts'
import { bufferBytes } from '../../support/measures/memory.ts'
import { dialects, rawClient } from '../../support/clients/raw-clients.ts'

const editorRef = { organizationId: 'org_1', documentId: 'doc_1', editorId: 'note' }
/** More than the kernel buffers for a paused reader, which is 4 MB. */
const bytes = 6_000_000
const doc = new Y.Doc()

/** Returns the TCP socket of a WebSocket. */
// oxlint-disable-next-line no-underscore-dangle -- ws has no public access to it
const socketOf = (webSocket: WebSocket) => (webSocket as unknown as { _socket: Socket })._socket

/** Reads the first bytes of a large answer and then pauses the socket. */
async function pauseDuringAnswer(reader: WebSocket): Promise<void> {
  let bytes = 0
  await new Promise<void>((resolve) => {
    socketOf(reader).on('data', (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes > 10_000) resolve()
    })
  })
  socketOf(reader).pause()
}

describe('slow readers of large documents', () => {
  const server = useServer(anyStore)

  let tenant: given.Tenant

  beforeAll(async () => {
    tenant = await given.tenant(server)
    doc.getText('content').insert(0, 'x'.repeat(bytes))
    const create = { type: 'text', contentKey: 'content' } as const
    await appendUpdates(server, tenant, editorRef, [Y.encodeStateAsUpdate(doc)], { create })
  })

  /** Requests what a client with this state vector lacks, and stops reading once the answer begins. */
  async function slowReader(token: string, stateVector: Uint8Array): Promise<void> {
    const reader = new RawSocket(server, `/yjs/${editorName}?token=${token}`)
    await reader.receivedCount(1)
    reader.send(encodeMessage(0, 0, stateVector))
    await pauseDuringAnswer(reader.socket)
  }

  test('[R14.2] 8 slow readers of a document use less memory than two copies of it, whatever state vectors they send', async () => {
    await slowReader(await tokenFor(tenant, 'first'), Uint8Array.of(0))
    const before = bufferBytes()
    for (let reader = 0; reader < 7; reader++) {
      const token = await tokenFor(tenant, `reader_${reader}`)
      const clocks = new Map(reader % 2 === 0 ? [] : [[doc.clientID, reader]])
      await slowReader(token, Y.encodeStateVector(clocks))
    }
    expect(bufferBytes() - before).toBeLessThan(2 * bytes * server.all.length)
  }, 60_000)

  test('[R14.2] slow readers of a document that changes meanwhile share its bytes', async () => {
    const writer = hocuspocusClient(server, await tokenFor(tenant, 'writer'))
    await synced(writer)
    await slowReader(await tokenFor(tenant, 'first'), Uint8Array.of(0))
    const before = bufferBytes()
    for (let reader = 0; reader < 5; reader++) {
      writer.text.insert(reader, 'change ')
      await saved(writer)
      await slowReader(await tokenFor(tenant, `reader_${reader}`), Uint8Array.of(0))
    }
    // A compaction may replace the snapshot meanwhile, and its thread may hold a copy. Not shared, there would be five.
    expect(bufferBytes() - before).toBeLessThan(4 * bytes * server.all.length)
  }, 60_000)

  test('[R14.2] slow readers of large live states share their bytes', async () => {
    const parts = 7
    const data = { text: 'x'.repeat(Math.ceil(bytes / parts)) }
    for (let part = 0; part < parts; part++) {
      const id = { organizationId: 'org_1', documentId: 'states', liveStateDataId: `state_${part}` }
      await tenant.client.liveState.broadcast({ ...id, data })
    }
    const before = bufferBytes()
    for (let reader = 0; reader < 6; reader++) {
      const token = await tokenFor(tenant, `reader_${reader}`)
      const client = await RealtimeSocket.connect(server, token)
      client.send({
        type: 'open',
        ref: 1,
        organizationId: 'org_1',
        documentId: 'states',
        topics: ['liveState'],
      })
      await pauseDuringAnswer(client.socket)
    }
    // Each server stores one copy in memory, encodes one for sending, and has one in its send buffers.
    expect(bufferBytes() - before).toBeLessThan(3 * bytes * server.all.length)
  }, 60_000)

  test('[R14.2] clients of three dialects end with all of a large document although another client types while they receive it', async () => {
    const writer = hocuspocusClient(server, await tokenFor(tenant, 'writer'))
    await synced(writer)
    const tokens = await Promise.all(['a', 'b', 'c'].map((userId) => tokenFor(tenant, userId)))
    const connection = plenumConnection(server.client(), tokens[2] as string)
    const [yjs, hocuspocus] = [
      yjsClient(server, tokens[0] as string),
      hocuspocusClient(server, tokens[1] as string),
    ]
    const editor = connection.document('org_1', 'doc_1').editor('note', { type: 'text' })
    for (let typed = 0; typed < 50; typed++) {
      writer.text.insert(typed, 'y')
      await new Promise((resolve) => setImmediate(resolve))
    }
    await saved(writer)
    await synced(yjs, hocuspocus)
    await editor.whenSynced
    for (const one of [yjs.doc, hocuspocus.doc, editor.doc]) {
      const text = one.getText('content')
      await eventually(() => text.length).toBe(writer.text.length)
      expect(text.toString() === writer.text.toString()).toBe(true)
    }
  }, 60_000)

  test.each(dialects)(
    '[R14.2] [R18] at /%s a client that pings between the pieces of a large document receives all of it',
    async (dialect) => {
      const client = rawClient(server, dialect, { token: await tokenFor(tenant), ...editorRef })
      await client.opened()
      const socket = socketOf(client.socket)
      // Simulates a slow network that delivers little at a time.
      let sent = 0
      socket.on('data', () => {
        if (sent++ % 10 === 0) client.socket.ping()
        socket.pause()
        setImmediate(() => socket.resume())
      })
      expect((await client.read())?.length).toBeGreaterThanOrEqual(bytes)
      await client.flushed()
      expect(sent).toBeGreaterThan(10)
    },
    60_000,
  )
})
