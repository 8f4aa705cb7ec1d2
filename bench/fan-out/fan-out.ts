import { setTimeout as wait } from 'node:timers/promises'
import { Client } from './client.ts'
import type { RunningServer } from './contenders.ts'
import type { Dialect } from './dialects.ts'
import { type Latencies, type Sender, watch } from './latency.ts'
import { createAuthor, textOf } from './typing.ts'

export interface Load {
  name: string
  documentCount: number
  /** In each document, the clients take turns to type. */
  clientsPerDocument: number
  /** The updates to each document per second. */
  updatesPerSecond: number
  seconds: number
}

export interface FanOutResult {
  /** CPU time of the server per delivered update: for one update at one client other than its sender. */
  cpuMicroseconds: number
  /** Below one, because updates were merged, or above one, because frames to the senders are included. */
  framesPerDeliveredUpdate: number
  latencies: Latencies
}

interface Room {
  name: string
  senders: (Sender & { frames: Uint8Array[]; updates: Uint8Array[] })[]
}

// Only some clients measure latencies: parsing every frame of a hot document would cost the load generator more than sending.
const watchersPerRoom = 5
/** Long enough for servers that store two seconds after the last update. */
const quietMilliseconds = 2500
// Timers have no finer resolution.
const tickMilliseconds = 1

let runCount = 0

/** Puts one load on one server, measures it until all frames have arrived, and checks that all clients converged. */
export async function fanOut(running: RunningServer, dialect: Dialect, load: Load): Promise<FanOutResult> {
  const rooms = await openRooms(running, dialect, load, `${process.pid}-${runCount++}`)
  const clients = rooms.flatMap((room) => room.senders.map(({ client }) => client))
  const latencies: Latencies = { saved: [], delivered: [] }
  for (const { senders } of rooms) {
    watch(senders, senders.slice(0, watchersPerRoom), dialect.acknowledges, latencies)
  }
  await waitUntilQuiet(clients, 500)

  const framesBefore = framesOf(clients)
  const cpuBefore = running.measured.cpuMicroseconds()
  await sendEvenly(rooms, load)
  await waitUntilQuiet(clients, quietMilliseconds)
  const cpu = running.measured.cpuMicroseconds() - cpuBefore
  const frames = framesOf(clients) - framesBefore

  for (const room of rooms) assertConverged(room)
  await Promise.all(clients.map((client) => client.close()))
  const { documentCount, clientsPerDocument, updatesPerSecond, seconds } = load
  const delivered = documentCount * updatesPerSecond * seconds * (clientsPerDocument - 1)
  return { cpuMicroseconds: cpu / delivered, framesPerDeliveredUpdate: frames / delivered, latencies }
}

async function openRooms(
  running: RunningServer,
  dialect: Dialect,
  load: Load,
  runName: string,
): Promise<Room[]> {
  const { documentCount, clientsPerDocument, updatesPerSecond, seconds } = load
  const updatesPerClient = Math.ceil((updatesPerSecond * seconds) / clientsPerDocument)
  const rooms: Room[] = []
  for (let n = 0; n < documentCount; n++) {
    const senders = Array.from({ length: clientsPerDocument }, async (_, client) => {
      const target = running.target(`doc-${runName}-${n}`, dialect, client)
      const { clientId, updates } = createAuthor(updatesPerClient)
      const frames = updates.map((update) => dialect.update(target.room, update))
      return { client: await Client.open(target), clientId, updates, frames, sentAt: [] }
    })
    rooms.push({ name: `doc-${runName}-${n}`, senders: await Promise.all(senders) })
  }
  return rooms
}

/** Sends updates evenly over time, documents and clients, as people type. Each client sends through its own socket. */
async function sendEvenly(rooms: Room[], load: Load): Promise<void> {
  const { documentCount, clientsPerDocument, updatesPerSecond, seconds } = load
  const perMillisecond = (documentCount * updatesPerSecond) / 1000
  const total = perMillisecond * seconds * 1000
  const began = performance.now()
  for (let sent = 0; sent < total; await wait(tickMilliseconds)) {
    const due = Math.min(total, (performance.now() - began) * perMillisecond)
    for (; sent < due; sent++) {
      const room = rooms[sent % documentCount]
      const sentToRoom = Math.floor(sent / documentCount)
      const sender = room?.senders[sentToRoom % clientsPerDocument]
      const frame = sender?.frames[Math.floor(sentToRoom / clientsPerDocument)]
      if (!sender || !frame)
        throw new Error('No update is left to send. Prepare more updates for each client.')
      sender.sentAt.push(performance.now())
      sender.client.send(frame)
    }
  }
}

/** Resolves when no client has received anything for this time. */
async function waitUntilQuiet(clients: Client[], milliseconds: number): Promise<void> {
  const began = performance.now()
  for (;;) {
    const last = clients.reduce((latest, { lastReceivedAt }) => Math.max(latest, lastReceivedAt), began)
    const left = last + milliseconds - performance.now()
    if (left <= 0) return
    await wait(left)
  }
}

const framesOf = (clients: Client[]) => clients.reduce((sum, { received }) => sum + received.length, 0)

function assertConverged({ name, senders }: Room): void {
  const expected = textOf(senders.flatMap(({ updates, sentAt }) => updates.slice(0, sentAt.length)))
  for (const { client, updates, sentAt } of senders) {
    const found = textOf([...updates.slice(0, sentAt.length), ...client.received])
    if (found !== expected) {
      throw new Error(
        `${name} did not converge: a client has ${found.length} of ${expected.length} characters.`,
      )
    }
  }
}
