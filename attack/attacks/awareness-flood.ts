import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import * as encoding from 'lib0/encoding'
import { limits } from '@plenum/protocol/realtime'
import { WebSocket } from 'ws'
import type { Attack } from '../attack.ts'
import { ensureDocument, userToken } from '../tenant.ts'

/** Fills one state up to its limit, with room for the fields around it. */
const text = 'x'.repeat(limits.awarenessBytes - 100)

/** Returns a y-websocket message with the awareness state of one Yjs client id. */
const stateOf = (clientId: number, clock: number) =>
  encoding.encode((message) => {
    encoding.writeVarUint(message, 1)
    encoding.writeVarUint8Array(
      message,
      encoding.encode((update) => {
        for (const number of [1, clientId, clock]) encoding.writeVarUint(update, number)
        encoding.writeVarString(update, JSON.stringify({ clock, text }))
      }),
    )
  })

/** A y-websocket message that requests all awareness states. */
const query = Uint8Array.of(3)

/** Viewers in one editor with large awareness states. Each changes its state and requests all states in a loop. */
export const awarenessOfManyViewers: Attack = {
  name: 'awareness of many viewers in one editor',
  withoutDatabase: true,
  async prepare(scene) {
    await ensureDocument(scene.attacker)
    const [viewerCount, durationMs] = scene.size === 'short' ? [60, 1_500] : [200, 10_000]
    const sockets = await Promise.all(
      Array.from({ length: viewerCount }, async (_, index) => {
        const token = await userToken(scene.attacker, `viewer_${index}`, 'viewer')
        const address = `${scene.url.replace(/^http/, 'ws')}/yjs/org_1/doc_1/note?token=${token}`
        const socket = new WebSocket(address)
        socket.on('error', () => {})
        await once(socket, 'open')
        return socket
      }),
    )
    return async () => {
      const endsAt = performance.now() + durationMs
      for (let clock = 1; performance.now() < endsAt; clock++) {
        for (const [index, socket] of sockets.entries()) {
          if (socket.readyState !== WebSocket.OPEN) continue
          socket.send(stateOf(1_000 + index, clock))
          socket.send(query)
        }
        await pause(20)
      }
      for (const socket of sockets) socket.terminate()
    }
  },
}
