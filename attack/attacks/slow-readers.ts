import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import * as encoding from 'lib0/encoding'
import { WebSocket } from 'ws'
import * as Y from 'yjs'
import type { Attack, Scene } from '../attack.ts'
import { userToken } from '../tenant.ts'

const partBytes = 1_000_000

/**
 * Many readers request one large document and then read nothing. Every second reader claims to have a part of the document,
 * so that the server would have to build an answer for this reader alone.
 */
export const slowReaders: Attack = {
  name: 'slow readers of a large document',
  withoutDatabase: true,
  // A thread merges the document, which takes a multiple of the document's size.
  maxMegabytes: 300,
  async prepare({ url, attacker, size }) {
    const [readerCount, megabytes, durationMs] = size === 'short' ? [40, 10, 1_500] : [40, 20, 8_000]
    await writeDocument(url, await userToken(attacker, 'writer'), megabytes)
    const sockets = await Promise.all(
      Array.from({ length: readerCount }, async (_, index) =>
        connect(url, await userToken(attacker, `reader_${index}`, 'viewer')),
      ),
    )
    return async () => {
      for (const [index, socket] of sockets.entries()) {
        socket.pause()
        socket.send(syncMessage(0, index % 2 === 0 ? Uint8Array.of(0) : Uint8Array.of(1, index, 1)))
      }
      await pause(durationMs)
      for (const socket of sockets) socket.terminate()
    }
  },
}

/** Writes a document of `partCount` parts, one update each. */
async function writeDocument(url: string, token: string, partCount: number): Promise<void> {
  const doc = new Y.Doc()
  const writer = await connect(url, token)
  const text = doc.getText('content')
  const updates: Uint8Array[] = []
  doc.on('update', (update: Uint8Array) => updates.push(update))
  for (let part = 0; part < partCount; part++) text.insert(text.length, `${part % 10}`.repeat(partBytes))
  for (const update of updates) {
    writer.send(syncMessage(2, update))
    // The server echoes an update once it is stored.
    await once(writer, 'message')
  }
  writer.close()
}

async function connect(url: Scene['url'], token: string): Promise<WebSocket> {
  const socket = new WebSocket(`${url.replace(/^http/, 'ws')}/yjs/org_1/large/note?token=${token}`)
  socket.on('error', () => {})
  await once(socket, 'message')
  return socket
}

const syncMessage = (kind: number, bytes: Uint8Array): Uint8Array =>
  encoding.encode((encoder) => {
    for (const number of [0, kind]) encoding.writeVarUint(encoder, number)
    encoding.writeVarUint8Array(encoder, bytes)
  })
