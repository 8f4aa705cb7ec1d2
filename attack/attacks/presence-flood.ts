import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { type ClientMessage, limits } from '@plenum/protocol/realtime'
import { WebSocket } from 'ws'
import type { Attack, Scene } from '../attack.ts'
import { ensureDocument, userToken } from '../tenant.ts'

const documentRef = { organizationId: 'org_1', documentId: 'doc_1' } as const
/** Fills the presence of one client up to its limit, with room for the fields around it. */
const text = 'x'.repeat(limits.presenceBytes - 100)

async function connectViewer({ url, attacker }: Scene, userId: string): Promise<WebSocket> {
  await ensureDocument(attacker)
  const token = await userToken(attacker, userId, 'viewer')
  const socket = new WebSocket(`${url.replace(/^http/, 'ws')}/realtime?token=${token}`)
  socket.on('error', () => {})
  await once(socket, 'open')
  return socket
}

const send = (socket: WebSocket, message: ClientMessage) => {
  if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify(message))
}

/** Opens the document under several refs. Resolves when the server has answered each request. */
async function open(socket: WebSocket, refCount: number): Promise<void> {
  let unanswered = refCount
  const answered = new Promise<void>((resolve) => {
    socket.on('message', (data: Buffer) => {
      if (/^{"type":"(opened|error)"/.test(data.toString('latin1', 0, 20)) && --unanswered === 0) resolve()
    })
  })
  for (let ref = 0; ref < refCount; ref++) {
    send(socket, { type: 'open', ref, ...documentRef, topics: ['presence'] })
  }
  await answered
}

/** Sets the presence to different data in each call. */
function setPresence(socket: WebSocket, ref: number): void {
  send(socket, { type: 'setPresence', ref, data: { at: Math.random(), text } })
}

/** A few sockets try to open one document 999 times each, and change their presence. The server allows one opening each. */
export const presenceUnderManyRefs: Attack = {
  name: 'presence of viewers who open one document many times',
  withoutDatabase: true,
  async prepare(scene) {
    const sockets = await Promise.all(
      Array.from({ length: 5 }, (_, i) => connectViewer(scene, `viewer_${i}`)),
    )
    await Promise.all(sockets.map((socket) => open(socket, 999)))
    const roundCount = scene.size === 'short' ? 4 : 20
    return async () => {
      for (let round = 0; round < roundCount; round++) {
        for (const socket of sockets) setPresence(socket, 0)
        await pause(500)
      }
      for (const socket of sockets) socket.terminate()
    }
  },
}

/** Many users in one document, each with the largest allowed presence data, which changes in a loop. */
export const presenceOfManyViewers: Attack = {
  name: 'presence of many viewers in one document',
  withoutDatabase: true,
  async prepare(scene) {
    const [viewerCount, durationMs] = scene.size === 'short' ? [60, 1_500] : [200, 10_000]
    const sockets = await Promise.all(
      Array.from({ length: viewerCount }, (_, i) => connectViewer(scene, `viewer_${i}`)),
    )
    await Promise.all(sockets.map((socket) => open(socket, 1)))
    return async () => {
      const endsAt = performance.now() + durationMs
      while (performance.now() < endsAt) {
        for (const socket of sockets) setPresence(socket, 0)
        await pause(20)
      }
      for (const socket of sockets) socket.terminate()
    }
  },
}
