import { once } from 'node:events'
import { WebSocket } from 'ws'
import { slowDocument } from '../packages/server/test/support/updates/scenes.ts'
import type { Scene } from './attack.ts'
import { userToken } from './tenant.ts'

export const slowEditor = { organizationId: 'org_1', documentId: 'doc_1', editorId: 'slow' }

/** Writes a document that Yjs takes many seconds to build, through a socket, as any client could. */
export async function addSlowDocument(
  { url, attacker, size }: Scene,
  { editorId = 'slow', firstClientId = 5, shortItems = 3_000 } = {},
): Promise<void> {
  const token = await userToken(attacker, 'mallory')
  const socket = new WebSocket(`${url.replace(/^http/, 'ws')}/yjs/org_1/doc_1/${editorId}?token=${token}`)
  await once(socket, 'open')
  const update = slowDocument(size === 'short' ? shortItems : 25_000, firstClientId)
  // The server sends an update back to its sender once it is stored.
  const stored = new Promise<void>((resolve) => {
    socket.on('message', (data: Buffer) => {
      if (data[0] === 0 && data[1] === 2) resolve()
    })
  })
  socket.send(syncUpdate(update))
  await stored
  socket.close()
}

/** Returns a y-websocket message with the update. */
function syncUpdate(update: Uint8Array): Uint8Array {
  const size: number[] = []
  let rest = update.length
  for (; rest > 127; rest = Math.floor(rest / 128)) size.push((rest % 128) | 128)
  return Buffer.concat([Uint8Array.from([0, 2, ...size, rest]), update])
}
