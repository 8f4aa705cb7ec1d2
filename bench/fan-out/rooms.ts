import { setTimeout as wait } from 'node:timers/promises'
import { Client, type Target } from './client.ts'
import { type Latencies, type Sender, watch } from './latency.ts'
import { type Author, createAuthor, textOf } from './typing.ts'

export interface Load {
  name: string
  documentCount: number
  /** In each document, the clients take turns to type. */
  clientsPerDocument: number
  /** The updates to each document per second. */
  updatesPerSecond: number
  seconds: number
}

export interface TypingClient extends Sender, Author {
  frames: Uint8Array[]
}

/** A document with the clients that type in it. */
export interface Room {
  name: string
  senders: TypingClient[]
}

// Only some clients measure latencies: parsing every frame of a hot document would cost the load generator more than sending.
const watchersPerRoom = 5
// A server's accept queue takes this many connections without a pause.
const maxConcurrentOpens = 50
// Timers have no finer resolution.
const tickMilliseconds = 1

let runCount = 0

export const updateCountOf = ({ documentCount, updatesPerSecond, seconds }: Load): number =>
  documentCount * updatesPerSecond * seconds

/** Opens new documents. `targetOf` says how a client opens the document with this name. */
export async function openRooms(
  load: Pick<Load, 'documentCount' | 'clientsPerDocument'>,
  updatesPerClient: number,
  targetOf: (room: string, client: number) => Target,
): Promise<Room[]> {
  const { documentCount, clientsPerDocument } = load
  const runName = `${process.pid}-${runCount++}`
  const open = async (n: number): Promise<Room> => {
    const name = `doc-${runName}-${n}`
    const senders = Array.from({ length: clientsPerDocument }, async (_, client) => {
      const target = targetOf(name, client)
      const author = createAuthor(updatesPerClient)
      const frames = author.updates.map((update) => target.dialect.update(target.room, update))
      return { client: await Client.open(target), ...author, frames, sentAt: [] }
    })
    return { name, senders: await Promise.all(senders) }
  }
  const roomsPerBatch = Math.max(1, Math.floor(maxConcurrentOpens / clientsPerDocument))
  const rooms: Room[] = []
  while (rooms.length < documentCount) {
    const count = Math.min(roomsPerBatch, documentCount - rooms.length)
    rooms.push(
      ...(await Promise.all(Array.from({ length: count }, (_, index) => open(rooms.length + index)))),
    )
  }
  return rooms
}

export const clientsOf = (rooms: Room[]): Client[] =>
  rooms.flatMap(({ senders }) => senders.map(({ client }) => client))

/** Records how long updates take from now on. With `acknowledged`, the server acknowledges updates with frames of their own. */
export function watchRooms(rooms: Room[], acknowledged: boolean): Latencies {
  const latencies: Latencies = { saved: [], delivered: [] }
  for (const { senders } of rooms) watch(senders, senders.slice(0, watchersPerRoom), acknowledged, latencies)
  return latencies
}

/** Sends updates evenly over time, documents and clients, as people type. Each client sends through its own socket. */
export async function sendEvenly(
  rooms: Room[],
  load: Load,
  send: (sender: TypingClient) => void = sendNext,
): Promise<void> {
  const { documentCount, clientsPerDocument } = load
  const total = updateCountOf(load)
  const perMillisecond = total / load.seconds / 1000
  const began = performance.now()
  for (let sent = 0; sent < total; await wait(tickMilliseconds)) {
    const due = Math.min(total, (performance.now() - began) * perMillisecond)
    for (; sent < due; sent++) {
      const sender =
        rooms[sent % documentCount]?.senders[Math.floor(sent / documentCount) % clientsPerDocument]
      if (sender) send(sender)
    }
  }
}

/** Sends the next prepared update of the client. */
export function sendNext({ client, frames, sentAt }: TypingClient): void {
  const frame = frames[sentAt.length]
  if (!frame) throw new Error('No update is left to send. Prepare more updates for each client.')
  sentAt.push(performance.now())
  client.send(frame)
}

/** Resolves when no client has received an update for this time. */
export async function waitUntilQuiet(clients: Client[], milliseconds: number): Promise<void> {
  const began = performance.now()
  for (;;) {
    const last = clients.reduce((latest, { lastReceivedAt }) => Math.max(latest, lastReceivedAt), began)
    const left = last + milliseconds - performance.now()
    if (left <= 0) return
    await wait(left)
  }
}

/** Throws if a client does not have all updates of its document. */
export function assertConverged({ name, senders }: Room): void {
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

/** Throws if a document differs between its clients. Then closes all clients. */
export async function closeRooms(rooms: Room[]): Promise<void> {
  for (const room of rooms) assertConverged(room)
  await Promise.all(clientsOf(rooms).map((client) => client.close()))
}
