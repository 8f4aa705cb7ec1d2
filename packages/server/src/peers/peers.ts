import { createHash, randomBytes } from 'node:crypto'
import { createDecoder, hasContent, readUint8Array, readVarUint8Array } from 'lib0/decoding'
import { encode, writeUint8, writeUint8Array, writeVarUint8Array } from 'lib0/encoding'
import { type Clock, type StopTimer, systemClock } from '../platform/clock.ts'
import type { Log } from '../platform/log/log.ts'
import type { PeerNumbers } from '../platform/metrics/peer-metrics.ts'
import type { ServerLink } from '../platform/server-link/server-link.ts'

/** What messages between servers are about. Servers of different releases exchange them, so a number is never used again. */
export const topics = {
  /** Rows of an editor's log. The address names the editor. */
  editor: 1,
  /** The live states and threads of a document. The address names the document. */
  document: 2,
  /** Stored signals. */
  signals: 3,
  /** Who is in a document. The address names the document. */
  presence: 4,
  /** Cursors in an editor. The address names the editor. */
  awareness: 5,
  /** Messages that clients send each other in an editor. The address names the editor. */
  stateless: 6,
  /** Calls that count for rate limits. */
  calls: 7,
  /** Servers that are alive, or stop. */
  servers: 8,
} as const

export type Topic = keyof typeof topics

/** Names what a message concerns, as 8 characters of one byte each. */
export type Address = string

/** Names a server until it stops, as 8 characters of one byte each. */
export type ServerId = string

type Listener = (body: Uint8Array, from: ServerId) => void

/** The servers that a message is for. */
type Recipients = readonly ServerId[] | typeof allServers

/** The other servers that have an address open. Undefined if they are not known. */
type Audience = () => readonly ServerId[] | undefined

/** Something to send, with its topic and address. */
interface Entry {
  bytes: Uint8Array
  to: Recipients
}

export const allServers = 'all servers'

const idBytes = 8
/** Servers of other formats are ignored. */
const format = 2
/** The address of messages that concern all servers. */
export const everywhere: Address = '\0'.repeat(idBytes)
/** More bytes are not collected into one message. */
const maxBatchBytes = 64 * 1024
/** Cursors wait this long for each other: a message costs its receivers, and the database, more than what it contains. */
const gatherCursorsMs = 10
const heartbeatMs = 10_000
/** A server that was silent for this long is gone. */
const goneMs = 30_000
const checkMs = 2_000
/** Servers that are killed stay among the silent ones. */
const maxSilent = 1_000
const alive = Uint8Array.of(1)
const stopping = Uint8Array.of(0)

/** The address of what these ids name. Two names have the same address with a probability of 2^-64. */
export const addressOf = (...ids: readonly string[]): Address =>
  createHash('sha256').update(ids.join('\0')).digest().toString('latin1', 0, idBytes)

/**
 * The other servers that share the database. Messages to them are hints: each may be lost. Messages that are sent in one
 * iteration of the event loop travel together, and cursors within 10 ms. They go to the servers that have something open at
 * the address or, if this server does not know which ones have, to all. A server that does not listen there skips them.
 */
export class Peers {
  readonly serverId: ServerId = randomBytes(idBytes).toString('latin1')
  readonly #link: ServerLink | undefined
  readonly #clock: Clock
  readonly #log: Pick<Log, 'error' | 'info' | 'warn'>
  readonly #listeners = new Map<string, Set<Listener>>()
  readonly #missedListeners = new Set<() => void>()
  readonly #goneListeners = new Set<(server: ServerId) => void>()
  /** When each other server was last heard. */
  readonly #heardAt = new Map<ServerId, number>()
  /** Servers that were silent and are considered gone. */
  readonly #silent = new Set<ServerId>()
  readonly #numbers = {
    sentMessages: 0,
    sentBytes: 0,
    receivedMessages: 0,
    receivedBytes: 0,
    droppedMessages: 0,
  }
  /** By address: the other servers that have it open. */
  readonly #audiences = new Map<Address, Audience>()
  #batch: Entry[] = []
  #batchBytes = 0
  /** Cancels the next flush that is scheduled, for the end of this iteration of the event loop or for later. */
  readonly #cancelFlush: { soon?: StopTimer | undefined; later?: StopTimer | undefined } = {}
  #stopTimers: StopTimer[] = []

  /** Without a link, there can be no other servers. */
  constructor({
    link,
    log,
    clock = systemClock,
  }: {
    link: ServerLink | undefined
    log: Pick<Log, 'error' | 'info' | 'warn'>
    clock?: Clock | undefined
  }) {
    this.#link = link
    this.#clock = clock
    this.#log = log
    this.listen('servers', everywhere, (body, from) => {
      if (body[0] === stopping[0]) this.#onGone(from)
    })
  }

  /** Whether there can be no other servers. */
  get isAlone(): boolean {
    return this.#link === undefined
  }

  get isConnected(): boolean {
    return this.#link?.isConnected === true
  }

  /** See `ServerLink`. */
  get carriesData(): boolean {
    return this.#link?.carriesData === true
  }

  /** Whether another server may have something open at the address, and can be reached. */
  reaches(address: Address): boolean {
    if (this.#heardAt.size === 0 || !this.isConnected) return false
    return this.#audiences.get(address)?.()?.length !== 0
  }

  /** How many other servers were heard lately. */
  get count(): number {
    return this.#heardAt.size
  }

  /** For the metrics. */
  get numbers(): PeerNumbers {
    const { delayMs, droppedMessages = 0 } = this.#link ?? {}
    return {
      ...this.#numbers,
      servers: this.count,
      isConnected: this.isConnected,
      delayMs,
      droppedMessages: this.#numbers.droppedMessages + droppedMessages,
    }
  }

  start(): void {
    if (!this.#link) return
    const link = this.#link.name
    this.#stopTimers = [
      this.#clock.setInterval(() => this.send('servers', everywhere, alive), heartbeatMs),
      this.#clock.setInterval(() => this.#dropSilent(), checkMs),
    ]
    this.#link.start(this.serverId, {
      onMessage: (message, from) => this.#receive(message, from),
      onConnected: () => {
        this.#log.info({ link }, 'connected to the other servers')
        this.send('servers', everywhere, alive)
        this.#onMessagesMissed()
      },
      onDisconnected: (reason) =>
        this.#log.warn(
          { link, reason },
          'the connection to the other servers is lost; until it is back, this server polls the database',
        ),
      onUnreachable: (reason) =>
        this.#log.warn(
          { link, reason },
          'cannot connect to the other servers; this server keeps trying, and polls the database',
        ),
    })
  }

  async stop(): Promise<void> {
    for (const stopTimer of this.#stopTimers) stopTimer()
    this.send('servers', everywhere, stopping)
    this.#flush()
    await this.#link?.stop()
  }

  /** Messages at the address go only to these servers, if they are known. Returns a function that ends it. */
  setAudience(address: Address, servers: Audience): () => void {
    this.#audiences.set(address, servers)
    return () => {
      if (this.#audiences.get(address) === servers) this.#audiences.delete(address)
    }
  }

  /** Sends the body to the listeners at the address, on these servers. Default: on the servers that have it open. */
  send(
    topic: Topic,
    address: Address,
    body: Uint8Array,
    to: Recipients = this.#audiences.get(address)?.() ?? allServers,
  ): void {
    if (!this.#link || (to !== allServers && to.length === 0)) return
    if (!this.isConnected) return void (this.#numbers.droppedMessages += 1)
    const bytes = encode((encoder) => {
      writeUint8(encoder, topics[topic])
      writeUint8Array(encoder, Buffer.from(address, 'latin1'))
      writeVarUint8Array(encoder, body)
    })
    this.#batch.push({ bytes, to })
    this.#batchBytes += bytes.length
    if (this.#batchBytes > maxBatchBytes) this.#flush()
    else if (topic === 'awareness') this.#flushLater()
    else this.#flushSoon()
  }

  #flushSoon(): void {
    if (this.#cancelFlush.soon) return
    const immediate = setImmediate(() => this.#flush())
    this.#cancelFlush.soon = () => clearImmediate(immediate)
  }

  #flushLater(): void {
    this.#cancelFlush.later ??= this.#clock.setTimeout(() => this.#flush(), gatherCursorsMs)
  }

  #flush(): void {
    this.#cancelFlush.soon?.()
    this.#cancelFlush.later?.()
    this.#cancelFlush.soon = this.#cancelFlush.later = undefined
    const batch = this.#batch
    this.#batch = []
    this.#batchBytes = 0
    if (batch.length === 0) return
    const byServer = entriesByServer(batch)
    // One message to all is sent once and received by all. Messages to some are sent and received once for each of them.
    if (!byServer || byServer.size * 2 > this.count) this.#sendMessage(batch)
    else for (const [server, entries] of byServer) this.#sendMessage(entries, [server])
  }

  #sendMessage(entries: readonly Entry[], to?: readonly ServerId[]): void {
    const message = Buffer.concat([Uint8Array.of(format), ...entries.map(({ bytes }) => bytes)])
    this.#numbers.sentMessages += 1
    this.#numbers.sentBytes += message.length
    this.#link?.send(message, to)
  }

  /** Calls the listener with the messages at the address. Returns a function that ends it. */
  listen(topic: Topic, address: Address, listener: Listener): () => void {
    if (!this.#link) return () => {}
    const key = keyOf(topics[topic], address)
    const listeners = this.#listeners.get(key) ?? new Set()
    this.#listeners.set(key, listeners.add(listener))
    return () => {
      listeners.delete(listener)
      if (listeners.size === 0 && this.#listeners.get(key) === listeners) this.#listeners.delete(key)
    }
  }

  /** Calls the listener when messages may have been missed: the link is connected again, or a server that was silent is back. */
  onMessagesMissed(listener: () => void): () => void {
    this.#missedListeners.add(listener)
    return () => void this.#missedListeners.delete(listener)
  }

  /** Calls the listener when a server has stopped, or was silent for half a minute. */
  onServerGone(listener: (server: ServerId) => void): () => void {
    this.#goneListeners.add(listener)
    return () => void this.#goneListeners.delete(listener)
  }

  #receive(message: Uint8Array, from: ServerId): void {
    this.#numbers.receivedMessages += 1
    this.#numbers.receivedBytes += message.length
    try {
      const decoder = createDecoder(message)
      if (decoder.arr[decoder.pos++] !== format) return
      // It has just started, and knows of this server when it hears from it.
      if (!this.#heardAt.has(from)) this.send('servers', everywhere, alive)
      if (this.#silent.delete(from)) this.#onMessagesMissed()
      this.#heardAt.set(from, this.#clock.elapsed())
      while (hasContent(decoder)) {
        // The key of a listener: the topic and the address.
        const key = latin1(readUint8Array(decoder, 1 + idBytes))
        const body = readVarUint8Array(decoder)
        for (const listener of this.#listeners.get(key) ?? []) this.#call(() => listener(body, from))
      }
    } catch (error) {
      this.#log.error({ err: error }, 'a message of another server cannot be read')
    }
  }

  #dropSilent(): void {
    const limit = this.#clock.elapsed() - goneMs
    for (const [server, heardAt] of this.#heardAt) {
      if (heardAt >= limit) continue
      if (this.#silent.size < maxSilent) this.#silent.add(server)
      this.#onGone(server)
    }
  }

  /** Messages may have been missed. */
  #onMessagesMissed(): void {
    for (const listener of this.#missedListeners) this.#call(listener)
  }

  #onGone(server: ServerId): void {
    if (!this.#heardAt.delete(server)) return
    for (const listener of this.#goneListeners) this.#call(() => listener(server))
  }

  #call(listener: () => void): void {
    try {
      listener()
    } catch (error) {
      this.#log.error({ err: error }, 'a message of another server cannot be handled')
    }
  }
}

/** The entries that each server gets. Undefined if all servers get some of them. */
function entriesByServer(batch: readonly Entry[]): Map<ServerId, Entry[]> | undefined {
  const byServer = new Map<ServerId, Entry[]>()
  for (const entry of batch) {
    if (entry.to === allServers) return undefined
    for (const server of entry.to) {
      const entries = byServer.get(server)
      if (entries) entries.push(entry)
      else byServer.set(server, [entry])
    }
  }
  return byServer
}

const latin1 = (bytes: Uint8Array) =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1')
const keyOf = (topic: number, address: Address) => String.fromCharCode(topic) + address
