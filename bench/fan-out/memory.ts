import { setTimeout as wait } from 'node:timers/promises'
import { Client } from './client.ts'
import type { Contender } from './contenders.ts'
import type { Dialect } from './dialects.ts'

const perRoom = 10
// As many as a server's accept queue takes without a pause.
const atOnce = 50
const settleMilliseconds = 3000

/** Kilobytes of the server's resident memory for a connection that has opened a document and is idle. */
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
      const batch = Array.from({ length: Math.min(atOnce, count - clients.length) }, () =>
        Client.open(running.target(`idle-${Math.floor(opened / perRoom)}`, dialect, opened++ % perRoom)),
      )
      clients.push(...(await Promise.all(batch)))
    }
    await wait(settleMilliseconds)
    return clients
  }
  const close = (clients: Client[]) => Promise.all(clients.map((client) => client.close()))

  // The first ones fill what the process has to spare, and load what every connection shares.
  const first = await open(connections)
  const before = running.measured.residentKilobytes()
  const second = await open(connections)
  const kilobytes = (running.measured.residentKilobytes() - before) / connections
  await close([...first, ...second])
  await running.stop()
  return kilobytes
}
