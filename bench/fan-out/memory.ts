import { setTimeout as wait } from 'node:timers/promises'
import { Client } from './client.ts'
import type { Contender } from './contenders.ts'
import type { Dialect } from './dialects.ts'

const connectionsPerRoom = 10
// A server's accept queue takes this many connections without a pause.
const maxConcurrentOpens = 50
/** V8 collects the garbage of an idle process after some 10 s. */
const settleMilliseconds = 12_000

export interface IdleCost {
  /** The server's resident memory for one idle connection with an open document. */
  kilobytes: number
  /** The server's CPU time while all connections are idle, in percent of one core. */
  cpuPercent: number
}

/** Opens this many connections, half of them before the memory is first read. Measures them while they are idle. */
export async function idleCost(
  contender: Contender,
  dialect: Dialect,
  connectionCount: number,
  idleSeconds: number,
): Promise<IdleCost> {
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
  const half = connectionCount / 2
  const first = await open(half)
  const kilobytesBefore = running.measured.residentKilobytes()
  const second = await open(half)
  const kilobytes = (running.measured.residentKilobytes() - kilobytesBefore) / half
  const cpuBefore = running.measured.cpuMicroseconds()
  const startedAt = performance.now()
  await wait(idleSeconds * 1000)
  const idleMilliseconds = performance.now() - startedAt
  const cpuPercent = (running.measured.cpuMicroseconds() - cpuBefore) / 10 / idleMilliseconds
  await close([...first, ...second])
  await running.stop()
  return { kilobytes, cpuPercent }
}
