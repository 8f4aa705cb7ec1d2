import { setTimeout as wait } from 'node:timers/promises'
import { Client } from './client.ts'
import type { Contender } from './contenders.ts'
import type { Dialect } from './dialects.ts'

const connectionsPerRoom = 10
// A server's accept queue takes this many without a pause.
const maxConcurrentOpens = 50
const settleMilliseconds = 3000

/** The server's resident memory in kilobytes for one idle connection with an open document. */
export async function memoryPerConnection(
  contender: Contender,
  dialect: Dialect,
  connections: number,
): Promise<number> {
  const running = await contender.start()
  let opened = 0
  const open = async (count: number) => {
    const clients: Client[] = []
    while (clients.length < count) {
      const batch = Array.from({ length: Math.min(maxConcurrentOpens, count - clients.length) }, () =>
        Client.open(
          running.target(
            `idle-${Math.floor(opened / connectionsPerRoom)}`,
            dialect,
            opened++ % connectionsPerRoom,
          ),
        ),
      )
      clients.push(...(await Promise.all(batch)))
    }
    await wait(settleMilliseconds)
    return clients
  }
  const close = (clients: Client[]) => Promise.all(clients.map((client) => client.close()))

  // The first connections fill spare memory of the process and load what all connections share.
  const first = await open(connections)
  const before = running.measured.residentKilobytes()
  const second = await open(connections)
  const kilobytes = (running.measured.residentKilobytes() - before) / connections
  await close([...first, ...second])
  await running.stop()
  return kilobytes
}
