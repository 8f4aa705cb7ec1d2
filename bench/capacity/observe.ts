import { setTimeout as wait } from 'node:timers/promises'
import { Client } from '../fan-out/client.ts'
import { withIdleConnections } from '../fan-out/memory.ts'
import {
  clientsOf,
  closeRooms,
  type Load,
  openRooms,
  sendEvenly,
  sendNext,
  updateCountOf,
  waitUntilQuiet,
} from '../fan-out/rooms.ts'
import { sendRequests } from '../load.ts'
import { type Cluster, sum, type Usage } from '../nodes/cluster.ts'
import { measured } from '../nodes/delivery.ts'
import { progress } from '../report.ts'
import { Cursor } from './cursor.ts'
import type { Observation } from './fit.ts'
import type { Cost, Work } from './units.ts'

/** Longer than the time in which servers update their counters. */
const quietMilliseconds = 1000
const requestConnections = 16
const openingsAtOnce = 8

/** Clients that type or move their cursors. The clients of a document take turns on the servers. */
export interface TypingLoad {
  documents: number
  clients: number
  /** One after the other, in the same documents. */
  phases: readonly Phase[]
}

export interface Phase {
  kind: 'nothing' | 'updates' | 'cursors'
  /** In all documents together. */
  perSecond: number
}

export async function observeTyping(
  cluster: Cluster,
  { documents, clients: clientsPerDocument, phases }: TypingLoad,
  seconds: number,
): Promise<Observation[]> {
  const size = { documentCount: documents, clientsPerDocument }
  const updates = sum(phases.map(({ kind, perSecond }) => (kind === 'updates' ? perSecond * seconds : 0)))
  const perClient = Math.ceil(updates / documents / clientsPerDocument) + phases.length
  const rooms = await openRooms(size, perClient, cluster.target)
  const clients = clientsOf(rooms)
  const cursors = new Map(
    rooms.flatMap(({ senders }) => senders.map((sender) => [sender, new Cursor(sender.clientId)] as const)),
  )
  await waitUntilQuiet(clients, quietMilliseconds)
  const observations: Observation[] = []
  for (const { kind, perSecond } of phases) {
    const name = `${documents} documents × ${clientsPerDocument} clients, ${perSecond} ${kind}/s, servers: ${cluster.servers.length}`
    progress(name)
    const load = { ...size, name, updatesPerSecond: perSecond / documents, seconds }
    const counters = await readCounters(cluster)
    const used = await measured(cluster, async () => {
      if (kind === 'nothing') return wait(seconds * 1000)
      await sendEvenly(rooms, load, (sender) =>
        kind === 'updates' ? sendNext(sender) : sender.client.send(cursors.get(sender)!.move()),
      )
      return waitUntilQuiet(clients, quietMilliseconds)
    })
    const work = typingWork(cluster, load, kind, used, await counters())
    observations.push({ name, work, used: costOfUsage(used) })
  }
  for (const cursor of cursors.values()) cursor.close()
  await closeRooms(rooms)
  return observations
}

function typingWork(
  cluster: Cluster,
  load: Load,
  kind: Phase['kind'],
  { seconds }: Usage,
  { commits, messages }: Counters,
): Work {
  const { documentCount, clientsPerDocument } = load
  const serverCount = cluster.servers.length
  const serversPerDocument = Math.min(serverCount, clientsPerDocument)
  const openDocuments = documentCount * serversPerDocument
  const count = updateCountOf(load)
  const deliveries = count * (clientsPerDocument - 1)
  const forwarded = count * (serversPerDocument - 1)
  return {
    ...openWork(cluster, seconds, documentCount * clientsPerDocument, openDocuments),
    sharedDocument: serversPerDocument > 1 ? seconds * openDocuments : 0,
    commit: commits,
    messageSent: messages,
    messageHeard: messages * (serverCount - 1),
    entryHeard: count * (serverCount - 1),
    ...(kind === 'updates'
      ? { update: count, delivery: deliveries, updateForwarded: forwarded }
      : { cursor: count, cursorDelivery: deliveries, cursorForwarded: forwarded }),
  }
}

/** Also returns the kilobytes of a connection with its part of a document. */
export async function observeIdle(
  cluster: Cluster,
  load: Parameters<typeof withIdleConnections>[2],
  seconds: number,
): Promise<{ observation: Observation; kilobytes: number }> {
  const [server] = cluster.servers
  const { connectionCount, connectionsPerDocument } = load
  const { kilobytes, idle } = await withIdleConnections(server!, cluster.target, load, () =>
    measured(cluster, () => wait(seconds * 1000)),
  )
  const name = `${connectionCount} idle connections, ${connectionsPerDocument} per document`
  const work = openWork(cluster, idle.seconds, connectionCount, connectionCount / connectionsPerDocument)
  return { kilobytes, observation: { name, work, used: costOfUsage(idle) } }
}

export async function observeNothing(cluster: Cluster, seconds: number): Promise<Observation> {
  const used = await measured(cluster, () => wait(seconds * 1000))
  return { name: 'nothing', work: openWork(cluster, used.seconds, 0, 0), used: costOfUsage(used) }
}

/** Requests of a backend, which are in the table of `npm run bench` too. */
export const requests = {
  read: { path: '/v2/organizations/get', body: () => JSON.stringify({ data: { organizationIds: ['org'] } }) },
  write: {
    path: '/v1/users/update',
    body: (n: number) => {
      const users = [{ userId: `u${n % 50}`, name: `Ada ${n}`, email: 'ada@example.com' }]
      return JSON.stringify({ data: { organizationId: 'org', users } })
    },
  },
}

export async function observeRequests(
  cluster: Cluster,
  kind: keyof typeof requests,
  count: number,
): Promise<Observation> {
  const { port } = cluster.servers[0]!
  const used = await measured(cluster, async () => {
    const { failures } = await sendRequests({
      ...requests[kind],
      port,
      headers: cluster.headers,
      connectionCount: requestConnections,
      requestCount: count,
      // As apart as requests of many backends: those that arrive together would share the work.
      pauseMs: 30,
    })
    if (failures.length > 0) throw new Error(`${failures.length} requests failed: ${failures[0]}`)
  })
  const work = { ...openWork(cluster, used.seconds, 0, 0), [kind]: count }
  return { name: `${count} requests: ${kind}`, work, used: costOfUsage(used) }
}

/** Documents that exist and that no client has open. Returns their names. */
export async function createClosedDocuments(
  cluster: Cluster,
  name: string,
  count: number,
): Promise<string[]> {
  const rooms = Array.from({ length: count }, (_, n) => `${name}-${n}`)
  for (const room of rooms) await openAndClose(cluster, room)
  return rooms
}

export async function openAndClose(cluster: Cluster, room: string, server = 0): Promise<void> {
  const client = await Client.open(cluster.target(room, 0, server))
  await client.close()
}

export async function observeOpenings(cluster: Cluster, rooms: readonly string[]): Promise<Observation> {
  const left = [...rooms]
  const used = await measured(cluster, async () => {
    const openNext = async () => {
      for (let room = left.pop(); room !== undefined; room = left.pop()) await openAndClose(cluster, room)
    }
    await Promise.all(Array.from({ length: openingsAtOnce }, openNext))
    await wait(quietMilliseconds)
  })
  const work = { ...openWork(cluster, used.seconds, 0, 0), opening: rooms.length }
  return { name: `${rooms.length} openings`, work, used: costOfUsage(used) }
}

/** What lasts as long as the measurement. */
const openWork = (cluster: Cluster, seconds: number, connections: number, openDocuments: number): Work => ({
  server: seconds * cluster.servers.length,
  connection: seconds * connections,
  openDocument: seconds * openDocuments,
})

export const costOfUsage = ({ servers, postgres, redis, walBytes }: Usage): Cost => ({
  servers: sum(servers),
  postgres,
  redis,
  walBytes,
})

interface Counters {
  /** Transactions with updates. */
  commits: number
  /** Messages between servers. */
  messages: number
}

/** The returned function returns how much the counters have grown since then. */
export async function readCounters(cluster: Cluster): Promise<() => Promise<Counters>> {
  const read = async () => ({
    commits: sum(await cluster.readMetric('plenum_editor_update_transactions_total')),
    messages: sum(await cluster.readMetric('plenum_peer_messages_total{direction="sent"}')),
  })
  const before = await read()
  return async () => {
    const after = await read()
    return { commits: after.commits - before.commits, messages: after.messages - before.messages }
  }
}
