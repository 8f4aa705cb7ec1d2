import { once } from 'node:events'
import { WebSocket } from 'ws'
import { burstOf, sendBurst, yjsUpdate } from '../../packages/server/test/support/clients/bursts.ts'
import { text, update } from '../../packages/server/test/support/updates/scenes.ts'
import type { Attack } from '../attack.ts'
import { userToken } from '../tenant.ts'

/** The Yjs client id of all items. */
const clientId = 7
/** Characters from one deleted range to the next. */
const distance = 8
/** As many ranges as fit into one update of 1 MiB, the limit. */
const maxRangesPerUpdate = 120_000
const deletesPerUpdate = 9

const times = <T>(count: number, make: (index: number) => T) =>
  Array.from({ length: count }, (_, i) => make(i))
const deleteUpdate = (clocks: readonly number[]) =>
  update({ deletes: [{ client: clientId, ranges: clocks.map((clock) => [clock, 1] as const) }] })

/** Sends one-character deletes all over an editor in which much is deleted already, in bursts of 40 KB. */
export const deleteFlood: Attack = {
  name: 'one-character deletes',
  withoutDatabase: true,
  async prepare({ url, attacker, size }) {
    const [rangeCount, socketCount, burstCount] = size === 'short' ? [100_000, 2, 2] : [1_000_000, 5, 6]
    const token = await userToken(attacker, 'mallory')
    const connect = async () => {
      const socket = new WebSocket(`${url.replace(/^http/, 'ws')}/yjs/org_1/doc_1/flood?token=${token}`)
      await once(socket, 'open')
      return socket
    }
    const first = await connect()
    for (let from = 0; from < rangeCount; from += maxRangesPerUpdate) {
      const count = Math.min(maxRangesPerUpdate, rangeCount - from)
      const clock = from * distance
      const position = clock > 0 ? { origin: [clientId, clock - 1] as const } : { parent: 'content' }
      const content = text('x'.repeat(count * distance))
      const insertion = update({
        structs: [{ client: clientId, clock, structs: [{ ...position, content }] }],
      })
      const deletion = deleteUpdate(times(count, (i) => clock + i * distance))
      sendBurst(first, burstOf([insertion, deletion].map(yjsUpdate)))
      await waitUntilStored(first)
    }
    const others = await Promise.all(times(socketCount - 1, connect))
    const floods = [first, ...others].map((socket, index) => ({ socket, offset: 2 + index }))
    return async () => {
      const flood = async ({ socket, offset }: (typeof floods)[number]) => {
        for (let burst = 0; burst < burstCount; burst++) {
          const updates = times(830, (i) => {
            const at = (burst * 830 + i) * deletesPerUpdate
            return deleteUpdate(times(deletesPerUpdate, (j) => (at + j) * distance + offset))
          })
          sendBurst(socket, burstOf(updates.map(yjsUpdate)))
          await waitUntilStored(socket)
        }
        socket.terminate()
      }
      await Promise.all(floods.map(flood))
    }
  },
}

/** Sends an empty update. Resolves when the server echoes it, because then everything sent before is stored. */
async function waitUntilStored(socket: WebSocket): Promise<void> {
  const emptyUpdate = Buffer.from(yjsUpdate(Uint8Array.of(0, 0)))
  const echo = new Promise<void>((resolve, reject) => {
    const onClose = (code: number) => reject(new Error(`The server closed the socket with ${code}.`))
    const onMessage = (data: Buffer) => {
      if (!data.equals(emptyUpdate)) return
      socket.off('message', onMessage).off('close', onClose)
      resolve()
    }
    socket.on('message', onMessage).on('close', onClose)
  })
  socket.send(emptyUpdate)
  await echo
}
