import { setTimeout as wait } from 'node:timers/promises'
import { Client } from './client.ts'
import type { Contender } from './contenders.ts'
import type { Dialect } from './dialects.ts'

const connectionsPerRoom = 10
// A server's accept queue takes this many connections without a pause.
const maxConcurrentOpens = 50
const settleMilliseconds = 3000

/** Returns the server's resident memory in kilobytes for one idle connection with an open document. */
export async function memoryPerConnection(
  contender: Contender,
  dialect: Dialect,
  connectionCount: number,
): Promise<number> {
  const running = await contender.start()
  let openedCount = 0
  const open = async (count: number) => {
    const clients: Client[] = []
    while (clients.length < count) {
      const batch = Array.from({ length: Math.min(maxConcurrentOpens, count - clients.length) }, () =>
        Client.open(
          running.target(
            `idle-${Math.floor(openedCount / connectionsPerRoom)}`,
            dialect,
            openedCount++ % connectionsPerRoom,
          ),
        ),
      )
      clients.push(...(await Promise.all(batch)))
    }
    await wait(settleMilliseconds)
    return clients
  }
  const close = (clients: Client[]) => Promise.all(clients.map((client) => client.close()))

  // The first connections are not measured: they fill spare memory of the process and load what all connections share.
  const first = await open(connectionCount)
  const kilobytesBefore = running.measured.residentKilobytes()
  const second = await open(connectionCount)
  const kilobytes = (running.measured.residentKilobytes() - kilobytesBefore) / connectionCount
  await close([...first, ...second])
  await running.stop()
  return kilobytes
}
