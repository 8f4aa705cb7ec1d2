import { cpuMicrosecondsOf, residentKilobytesOf } from '../process.ts'
import type { ServerProcess } from '../../packages/server/test/support/processes/server-process.ts'
import { setTimeout as wait } from 'node:timers/promises'
import { Client, type Target } from './client.ts'
import type { Contender } from './contenders.ts'
import type { Dialect } from './dialects.ts'

// A server's accept queue takes this many connections without a pause.
const maxConcurrentOpens = 50
/** V8 collects the garbage of an idle process after some 10 s. */
const settleSeconds = 12

export interface IdleCost {
  /** The server's resident memory for one idle connection with an open document. */
  kilobytes: number
  /** The server's CPU time while all connections are idle, in percent of one core. */
  cpuPercent: number
}

export interface IdleLoad {
  connectionCount: number
  connectionsPerDocument: number
  /** How long memory settles before it is read. */
  settleSeconds: number
}

/** Measures what this many idle connections cost a server of their own. */
export async function idleCost(
  contender: Contender,
  dialect: Dialect,
  connectionCount: number,
  idleSeconds: number,
): Promise<IdleCost> {
  const running = await contender.start()
  const { measured } = running
  const { kilobytes, idle } = await withIdleConnections(
    measured,
    (room, client) => running.target(room, dialect, client),
    { connectionCount, connectionsPerDocument: 10, settleSeconds },
    async () => {
      const cpuBefore = cpuMicrosecondsOf(measured.pid)
      const startedAt = performance.now()
      await wait(idleSeconds * 1000)
      return (cpuMicrosecondsOf(measured.pid) - cpuBefore) / 10 / (performance.now() - startedAt)
    },
  )
  await running.stop()
  return { kilobytes, cpuPercent: idle }
}

/** Opens connections, half of them before the memory is first read, and runs `whileIdle` while they are idle. */
export async function withIdleConnections<T>(
  server: ServerProcess,
  targetOf: (room: string, client: number) => Target,
  { connectionCount, connectionsPerDocument, settleSeconds }: IdleLoad,
  whileIdle: () => Promise<T>,
): Promise<{ kilobytes: number; idle: T }> {
  const clients: Client[] = []
  const open = async (count: number) => {
    while (clients.length < count) {
      const batch = Array.from(
        { length: Math.min(maxConcurrentOpens, count - clients.length) },
        (_, index) => {
          const number = clients.length + index
          const room = Math.floor(number / connectionsPerDocument)
          return Client.open(
            targetOf(`idle-${connectionsPerDocument}-${room}`, number % connectionsPerDocument),
          )
        },
      )
      clients.push(...(await Promise.all(batch)))
    }
    await wait(settleSeconds * 1000)
  }

  // The first connections are not measured: they fill spare memory of the process and load what all connections share.
  const half = connectionCount / 2
  await open(half)
  const kilobytesBefore = residentKilobytesOf(server.pid)
  await open(connectionCount)
  const kilobytes = (residentKilobytesOf(server.pid) - kilobytesBefore) / half
  const idle = await whileIdle()
  await Promise.all(clients.map((client) => client.close()))
  return { kilobytes, idle }
}
