import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { WebSocket } from 'ws'
import type { Attack } from '../attack.ts'
import { addSlowDocument } from '../slow-document.ts'
import { userToken } from '../tenant.ts'

/** "What do I lack?" of a y-websocket client that has nothing. */
const question = Uint8Array.of(0, 0, 1, 0)

/** Many sockets that open a slow document, and come back when they are cut. */
export const slowDocumentSockets: Attack = {
  name: 'sockets on a slow document',
  withoutDatabase: true,
  async prepare(scene) {
    // Two parts, so that the server has to put them together.
    await addSlowDocument(scene)
    await addSlowDocument(scene, 'slow', 7)
    const token = await userToken(scene.attacker, 'mallory')
    const url = `${scene.url.replace(/^http/, 'ws')}/yjs/org_1/doc_1/slow?token=${token}`
    const [sockets, ms] = scene.size === 'short' ? [20, 6_000] : [20, 20_000]
    return async () => {
      let isOver = false
      const come = async () => {
        while (!isOver) {
          const socket = new WebSocket(url)
          socket.on('error', () => {})
          socket.once('open', () => socket.send(question))
          await Promise.race([once(socket, 'close').catch(() => {}), pause(ms)])
          socket.terminate()
        }
      }
      const coming = Array.from({ length: sockets }, come)
      await pause(ms)
      isOver = true
      await Promise.all(coming)
    }
  },
}
