import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { WebSocket } from 'ws'
import type { Attack } from '../attack.ts'
import { addSlowDocument } from '../slow-document.ts'
import { userToken } from '../tenant.ts'

/** The sync request of a y-websocket client with an empty document. */
const syncRequest = Uint8Array.of(0, 0, 1, 0)

/** Many sockets open a slow document, and reconnect when the server closes them. */
export const slowDocumentSockets: Attack = {
  name: 'sockets on a slow document',
  withoutDatabase: true,
  async prepare(scene) {
    // Two updates, so that the server has to merge them.
    await addSlowDocument(scene, { shortItems: 6_000 })
    await addSlowDocument(scene, { shortItems: 6_000, firstClientId: 7 })
    const token = await userToken(scene.attacker, 'mallory')
    const url = `${scene.url.replace(/^http/, 'ws')}/yjs/org_1/doc_1/slow?token=${token}`
    const [socketCount, durationMs] = scene.size === 'short' ? [20, 3_000] : [20, 20_000]
    return async () => {
      let isOver = false
      const reconnect = async () => {
        while (!isOver) {
          const socket = new WebSocket(url)
          socket.on('error', () => {})
          socket.once('open', () => socket.send(syncRequest))
          await Promise.race([once(socket, 'close').catch(() => {}), pause(durationMs)])
          socket.terminate()
        }
      }
      const clients = Array.from({ length: socketCount }, reconnect)
      await pause(durationMs)
      isOver = true
      await Promise.all(clients)
    }
  },
}
