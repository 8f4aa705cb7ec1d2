import { setTimeout as wait } from 'node:timers/promises'
import { Client } from './client.ts'
import type { Running } from './contenders.ts'
import type { Dialect } from './dialects.ts'
import { type Latencies, type Sender, watch } from './latency.ts'
import { textOf, typedBy } from './typing.ts'

export interface Load {
  name: string
  documents: number
  /** Clients of each document. They type in turn. */
  clients: number
  /** Updates to each document. */
  perSecond: number
  seconds: number
}

export interface FanOutResult {
  /** CPU time of the server for one update at one client other than its sender. */
  cpuMicroseconds: number
  /** Below one: updates were merged. Above one: frames to the sender are included. */
  framesPerDelivered: number
  latencies: Latencies
}

interface Room {
  name: string
  senders: (Sender & { frames: Uint8Array[]; updates: Uint8Array[] })[]
}

// Not all: parsing every frame of a hot document would cost the load generator more than sending does.
const watchersPerRoom = 5
/** Long enough for servers that store two seconds after the last update. */
const quietMilliseconds = 2500
// The resolution of timers.
const tickMilliseconds = 1

let runs = 0

/** Puts one load on one server, measures it until all frames have arrived, and checks that all clients converged. */
export async function fanOut(running: Running, dialect: Dialect, load: Load): Promise<FanOutResult> {
  const rooms = await openRooms(running, dialect, load, `${process.pid}-${runs++}`)
  const clients = rooms.flatMap((room) => room.senders.map(({ client }) => client))
  const latencies: Latencies = { saved: [], delivered: [] }
  for (const { senders } of rooms) {
    watch(senders, senders.slice(0, watchersPerRoom), dialect.acknowledges, latencies)
  }
  await waitUntilQuiet(clients, 500)

  const framesBefore = framesOf(clients)
  const began = running.measured.cpuMicroseconds()
  await type(rooms, load)
  await waitUntilQuiet(clients, quietMilliseconds)
  const cpu = running.measured.cpuMicroseconds() - began
  const frames = framesOf(clients) - framesBefore

  for (const room of rooms) assertConverged(room)
  await Promise.all(clients.map((client) => client.close()))
  const delivered = load.documents * load.perSecond * load.seconds * (load.clients - 1)
  return { cpuMicroseconds: cpu / delivered, framesPerDelivered: frames / delivered, latencies }
}

async function openRooms(running: Running, dialect: Dialect, load: Load, run: string): Promise<Room[]> {
  const perClient = Math.ceil((load.perSecond * load.seconds) / load.clients)
  const rooms: Room[] = []
  for (let n = 0; n < load.documents; n++) {
    const senders = Array.from({ length: load.clients }, async (_, client) => {
      const target = running.target(`doc-${run}-${n}`, dialect, client)
      const { clientId, updates } = typedBy(perClient)
      const frames = updates.map((update) => dialect.update(target.room, update))
      return { client: await Client.open(target), clientId, updates, frames, sentAt: [] }
    })
    rooms.push({ name: `doc-${run}-${n}`, senders: await Promise.all(senders) })
  }
  return rooms
}

/** Sends updates evenly over time, documents and clients, as people type. Each client sends through its own socket. */
async function type(rooms: Room[], load: Load): Promise<void> {
  const perMillisecond = (load.documents * load.perSecond) / 1000
  const total = perMillisecond * load.seconds * 1000
  const began = performance.now()
  for (let sent = 0; sent < total; await wait(tickMilliseconds)) {
    const due = Math.min(total, (performance.now() - began) * perMillisecond)
    for (; sent < due; sent++) {
      const room = rooms[sent % load.documents]
      const ofRoom = Math.floor(sent / load.documents)
      const sender = room?.senders[ofRoom % load.clients]
      const frame = sender?.frames[Math.floor(ofRoom / load.clients)]
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
