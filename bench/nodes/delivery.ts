import { setTimeout as wait } from 'node:timers/promises'
import {
  clientsOf,
  closeRooms,
  type Load,
  openRooms,
  sendEvenly,
  waitUntilQuiet,
  watchRooms,
} from '../fan-out/rooms.ts'
import { type Cluster, type Usage, withoutIdle } from './cluster.ts'

export interface Delivery {
  /** With all documents open, before the first update. */
  idle: Usage
  /** For the updates, without what the cluster uses when it is idle. */
  used: Usage
  /** Milliseconds until another client received an update. */
  delivered: number[]
}

/** Longer than the second after which servers find changes of which no message has told. */
const quietMilliseconds = 1500

/**
 * Puts a load on a cluster, and measures it before, and until all updates have arrived. Fails if a document differs between
 * its clients. Without `serverOf`, the clients of a document take turns on the servers.
 */
export async function deliver(
  cluster: Cluster,
  load: Load,
  idleSeconds: number,
  serverOf?: (client: number) => number,
): Promise<Delivery> {
  const { clientsPerDocument, updatesPerSecond, seconds } = load
  const updatesPerClient = Math.ceil((updatesPerSecond * seconds) / clientsPerDocument)
  const rooms = await openRooms(load, updatesPerClient, (room, client) =>
    cluster.target(room, client, serverOf?.(client)),
  )
  const clients = clientsOf(rooms)
  const { delivered } = watchRooms(rooms, false)
  await waitUntilQuiet(clients, quietMilliseconds)

  const idle = await measured(cluster, () => wait(idleSeconds * 1000))
  const busy = await measured(cluster, async () => {
    await sendEvenly(rooms, load)
    await waitUntilQuiet(clients, quietMilliseconds)
  })
  await closeRooms(rooms)
  return { idle, used: withoutIdle(busy, idle), delivered }
}

/** What the cluster used while the work ran. */
export async function measured(cluster: Cluster, work: () => Promise<unknown>): Promise<Usage> {
  const end = await cluster.measure()
  await work()
  return end()
}
