import { cpuMicrosecondsOf } from '../process.ts'
import type { RunningServer } from './contenders.ts'
import type { Dialect } from './dialects.ts'
import type { Client } from './client.ts'
import type { Latencies } from './latency.ts'
import {
  clientsOf,
  closeRooms,
  type Load,
  openRooms,
  sendEvenly,
  updateCountOf,
  waitUntilQuiet,
  watchRooms,
} from './rooms.ts'

export interface FanOutResult {
  /** CPU time of the server per delivered update: for one update at one client other than its sender. */
  cpuMicroseconds: number
  /** Below one, because updates were merged, or above one, because frames to the senders are included. */
  framesPerDeliveredUpdate: number
  latencies: Latencies
}

/** Long enough for servers that store two seconds after the last update. */
const quietMilliseconds = 2500

/** Puts one load on one server, measures it until all frames have arrived, and checks that all clients converged. */
export async function fanOut(running: RunningServer, dialect: Dialect, load: Load): Promise<FanOutResult> {
  const { clientsPerDocument, updatesPerSecond, seconds } = load
  const updatesPerClient = Math.ceil((updatesPerSecond * seconds) / clientsPerDocument)
  const rooms = await openRooms(load, updatesPerClient, (room, client) =>
    running.target(room, dialect, client),
  )
  const clients = clientsOf(rooms)
  const latencies = watchRooms(rooms, dialect.acknowledges)
  await waitUntilQuiet(clients, 500)

  const framesBefore = framesOf(clients)
  const cpuBefore = cpuMicrosecondsOf(running.measured.pid)
  await sendEvenly(rooms, load)
  await waitUntilQuiet(clients, quietMilliseconds)
  const cpu = cpuMicrosecondsOf(running.measured.pid) - cpuBefore
  const frames = framesOf(clients) - framesBefore

  await closeRooms(rooms)
  const delivered = updateCountOf(load) * (clientsPerDocument - 1)
  return { cpuMicroseconds: cpu / delivered, framesPerDeliveredUpdate: frames / delivered, latencies }
}

const framesOf = (clients: Client[]) => clients.reduce((sum, { received }) => sum + received.length, 0)
