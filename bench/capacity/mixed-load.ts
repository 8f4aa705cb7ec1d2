import { residentKilobytesOf } from '../process.ts'
import { setTimeout as wait } from 'node:timers/promises'
import {
  clientsOf,
  closeRooms,
  openRooms,
  sendNext,
  type TypingClient,
  waitUntilQuiet,
} from '../fan-out/rooms.ts'
import { seededRandom } from '../fan-out/typing.ts'
import { type Cluster, type Usage } from '../nodes/cluster.ts'
import { measured } from '../nodes/delivery.ts'
import { Cursor } from './cursor.ts'
import { type Habits, workOf } from './model.ts'
import { createClosedDocuments, openAndClose, readCounters, requests } from './observe.ts'

const settleMilliseconds = 3000
const quietMilliseconds = 1000
/** Documents that are opened and closed in turns. */
const closedDocuments = 20

export interface Measurement {
  used: Usage
  commits: number
  messages: number
  residentMegabytes: number
}

/** Users with these habits, at random times and on random servers. Fails if a document differs between its clients. */
export async function runMixedLoad(
  cluster: Cluster,
  users: number,
  habits: Habits,
  seconds: number,
): Promise<Measurement> {
  const random = seededRandom(users)
  const anyServer = () => Math.floor(random() * cluster.servers.length)
  const oneOf = <T>(list: readonly T[]) => list[Math.floor(random() * list.length)] as T

  const closed = await createClosedDocuments(cluster, `closed-${users}`, closedDocuments)
  const documentCount = Math.round(users / habits.usersPerDocument)
  // Far more than a user types on average.
  const updatesPerClient = Math.ceil(habits.updatesPerSecond * seconds * 3) + 30
  const rooms = await openRooms(
    { documentCount, clientsPerDocument: habits.usersPerDocument },
    updatesPerClient,
    (room, client) => cluster.target(room, client, anyServer()),
  )
  const clients = clientsOf(rooms)
  const everybody = rooms.flatMap(({ senders }) => senders)
  const typists: TypingClient[] = Array.from({ length: users * habits.typingShare }, () => oneOf(everybody))
  const cursors = new Map([...new Set(typists)].map((typist) => [typist, new Cursor(typist.clientId)]))
  const running = new Set<Promise<void>>()
  const start = (action: Promise<void>) => {
    const ended = action.finally(() => running.delete(ended))
    running.add(ended)
  }

  const work = workOf(users, cluster.servers.length, habits)
  const actions: [perSecond: number | undefined, act: () => void][] = [
    [work.update, () => sendNext(oneOf(typists))],
    [
      work.cursor,
      () => {
        const [typist, cursor] = oneOf([...cursors])
        typist.client.send(cursor.move())
      },
    ],
    [work.opening, () => start(openAndClose(cluster, oneOf(closed), anyServer()))],
    [work.read, () => start(call(cluster, anyServer(), 'read'))],
    [work.write, () => start(call(cluster, anyServer(), 'write'))],
  ]
  await waitUntilQuiet(clients, settleMilliseconds)
  const counters = await readCounters(cluster)
  const used = await measured(cluster, async () => {
    await Promise.all(actions.map(([perSecond = 0, act]) => actAtRandom(perSecond, seconds, random, act)))
    await Promise.all(running)
    // On a busy machine, the servers are behind.
    await waitUntilQuiet(clients, quietMilliseconds)
  })
  const kilobytes = cluster.servers.reduce((sum, server) => sum + residentKilobytesOf(server.pid), 0)
  for (const cursor of cursors.values()) cursor.close()
  await closeRooms(rooms)
  return { used, ...(await counters()), residentMegabytes: kilobytes / 1024 }
}

/** Acts this often on average, at times that do not depend on each other. */
async function actAtRandom(
  perSecond: number,
  seconds: number,
  random: () => number,
  act: () => void,
): Promise<void> {
  const began = performance.now()
  const nextAfter = (ms: number) => ms - (Math.log(1 - random()) / perSecond) * 1000
  for (let due = nextAfter(0); due < seconds * 1000; due = nextAfter(due)) {
    const waitMs = due - (performance.now() - began)
    if (waitMs > 1) await wait(waitMs)
    act()
  }
  await wait(Math.max(0, seconds * 1000 - (performance.now() - began)))
}

let requestCount = 0

async function call(cluster: Cluster, server: number, kind: keyof typeof requests): Promise<void> {
  const { path, body } = requests[kind]
  const response = await fetch(`http://127.0.0.1:${cluster.servers[server]?.port}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...cluster.headers },
    body: body(requestCount++),
  })
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
  await response.arrayBuffer()
}
