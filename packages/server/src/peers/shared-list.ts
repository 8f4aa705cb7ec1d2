import type { Clock } from '../platform/clock.ts'
import { LazyMap, LazySet } from '../platform/lazy-collections.ts'
import type { Log } from '../platform/log/log.ts'
import {
  digestOf,
  fingerprintOf,
  type ListMessage,
  readListMessage,
  type SharedItem,
  writeListMessage,
} from './list-messages.ts'
import { type Address, allServers, type Peers, type ServerId, type Topic } from './peers.ts'

/** Returns the items of this server, and receives the items of other servers. */
export interface SharedListSource {
  /** The keys of the items of this server. */
  ownKeys(): Iterable<string>
  /** The item of this server with this key, if there is one. */
  ownItem(key: string): SharedItem | undefined
  /** Another server has added or changed an item. Throws if the content is malformed. */
  onItem(server: ServerId, key: string, item: SharedItem): void
  /** The item of another server is gone. */
  onRemoved(server: ServerId, key: string): void
  /** Another server has opened the list. */
  onServer?(server: ServerId): void
  /** Runs the steps one by one, in turns with other work. */
  run(steps: Iterator<unknown>): void
}

export interface SharedListDeps {
  peers: Peers
  topic: Topic
  address: Address
  source: SharedListSource
  clock: Clock
  log: Pick<Log, 'debug'>
  onOpened: (list: SharedList) => void
  onClosed: (list: SharedList) => void
}

/** Another server that has the list open. */
interface OtherServer {
  lastMessageAt: number
  /** The fingerprints of its items by their keys. */
  items: Map<string, bigint>
  /** While the server sends all its items: the keys that it had before and has not sent again. */
  unconfirmed: Set<string> | undefined
}

/** Items of one server. It can have no more clients than `LIMIT_CONNECTIONS`, which is 20,000 by default. */
const maxItemsPerServer = 20_000
/** The items of a server that was silent for this long are dropped. It repeats its digest more often. */
const silentMs = 30_000
/** Servers that have the list open answer within this time. Until then, all of them get everything. */
const answerMs = 500
/** A server that lacks items asks for them at most once in this time. */
const minAskIntervalMs = 10_000

/**
 * A list over all servers, such as the users in a document. Each server owns its items and sends their changes to the servers
 * that have the same list open. Messages may be lost. So each server repeats a digest of its items, and a server that has
 * other items asks for all of them. A list that no other server has open costs one message when it is opened, and another
 * one some seconds later.
 */
export class SharedList {
  readonly #deps: SharedListDeps
  readonly #servers = new LazyMap<ServerId, OtherServer>()
  /** Fingerprints of the own items that the other servers should have. */
  readonly #sent = new LazyMap<string, bigint>()
  #stopListening: (() => void) | undefined
  #isSendingAll = false
  /** The servers that need all own items. */
  readonly #askers = new LazySet<ServerId>()
  #askedAt = -Infinity
  #mustAskAgain = false

  constructor(deps: SharedListDeps) {
    this.#deps = deps
  }

  /** Whether another server has the list open. */
  get isShared(): boolean {
    return this.#servers.size > 0
  }

  get #serverIds(): ServerId[] {
    return Array.from(this.#servers.keys())
  }

  get #isOpen(): boolean {
    return this.#stopListening !== undefined
  }

  /** Call it when clients of this server need the list. */
  open(): void {
    if (this.#isOpen) return
    const { peers, topic, address, clock, onOpened } = this.#deps
    const knownAt = clock.elapsed() + answerMs
    const stops = [
      peers.listen(topic, address, (body, from) => this.#receive(body, from)),
      peers.setAudience(address, () => (clock.elapsed() < knownAt ? undefined : this.#serverIds)),
    ]
    this.#stopListening = () => stops.forEach((stop) => stop())
    onOpened(this)
    this.ask()
    // The first message may be lost, and without an answer nothing would show it.
    this.#mustAskAgain = true
  }

  /** Call it when no client of this server needs the list any more. Removes the items of other servers. */
  close(): void {
    if (!this.#isOpen) return
    this.#stopListening?.()
    this.#stopListening = undefined
    this.#deps.onClosed(this)
    if (this.isShared) this.#send({ kind: 'closed' })
    for (const server of this.#serverIds) this.dropServer(server)
  }

  /** Asks the other servers for all their items, because some may be missing. */
  ask(): void {
    if (!this.#isOpen) return
    this.#askedAt = this.#deps.clock.elapsed()
    this.#mustAskAgain = false
    this.#send({ kind: 'ask' }, allServers)
  }

  /** Call it when an own item may have changed. */
  update(key: string): void {
    this.#sendItem(key, [])
  }

  /** Sends the item to all servers if it has changed, and else to the askers. */
  #sendItem(key: string, askers: readonly ServerId[]): void {
    if (!this.isShared) return
    const item = this.#deps.source.ownItem(key)
    if (!item) {
      if (this.#sent.delete(key)) this.#send({ kind: 'removed', key })
      return
    }
    const fingerprint = fingerprintOf(key, item.content)
    const to = this.#sent.get(key) === fingerprint ? askers : this.#serverIds
    this.#sent.set(key, fingerprint)
    if (to.length > 0) this.#send({ kind: 'item', key, ...item }, to)
  }

  /** Called every few seconds. With `isDigestDue`, repeats the digest. */
  sweep(isDigestDue: boolean): void {
    const limit = this.#deps.clock.elapsed() - silentMs
    for (const [server, { lastMessageAt }] of Array.from(this.#servers)) {
      if (lastMessageAt < limit) this.dropServer(server)
    }
    if (!isDigestDue) return
    if (!this.isShared) {
      if (this.#mustAskAgain) this.ask()
    } else if (!this.#isSendingAll) this.#sendDigest()
  }

  /** Another server has closed the list, or is gone. */
  dropServer(server: ServerId): void {
    const dropped = this.#servers.get(server)
    if (!dropped) return
    this.#servers.delete(server)
    this.#askers.delete(server)
    if (!this.isShared) this.#sent.clear()
    for (const key of dropped.items.keys()) this.#deps.source.onRemoved(server, key)
  }

  #send(message: ListMessage, to: readonly ServerId[] | typeof allServers = this.#serverIds): void {
    const { peers, topic, address } = this.#deps
    peers.send(topic, address, writeListMessage(message), to)
  }

  #sendDigest(to?: readonly ServerId[]): void {
    this.#send({ kind: 'digest', digest: digestOf(this.#sent.values()) }, to)
  }

  #sendAllTo(server: ServerId): void {
    this.#askers.add(server)
    if (this.#isSendingAll) return
    this.#isSendingAll = true
    this.#deps.source.run(this.#sendAllSteps())
  }

  *#sendAllSteps(): Generator<undefined> {
    try {
      while (this.#askers.size > 0) {
        const askers = Array.from(this.#askers)
        this.#askers.clear()
        this.#send({ kind: 'all' }, askers)
        for (const key of Array.from(this.#deps.source.ownKeys())) {
          this.#sendItem(key, askers)
          yield
        }
        if (this.isShared) this.#sendDigest(askers)
      }
    } finally {
      this.#isSendingAll = false
    }
  }

  #receive(body: Uint8Array, from: ServerId): void {
    try {
      this.#handle(readListMessage(body), from)
    } catch (error) {
      const { log, topic } = this.#deps
      log.debug({ err: error, topic }, 'a message of another server is ignored, because it is malformed')
    }
  }

  #handle(message: ListMessage, from: ServerId): void {
    if (message.kind === 'closed') return this.dropServer(from)
    const known = this.#servers.get(from)
    const server = known ?? { lastMessageAt: 0, items: new Map(), unconfirmed: undefined }
    server.lastMessageAt = this.#deps.clock.elapsed()
    this.#servers.set(from, server)
    // A server that is new here has not received the own items.
    if (!known || message.kind === 'ask') this.#sendAllTo(from)
    if (!known) this.#deps.source.onServer?.(from)
    switch (message.kind) {
      case 'ask':
        break
      case 'all':
        server.unconfirmed = new Set(server.items.keys())
        break
      case 'item':
        this.#onItem(server, from, message)
        break
      case 'removed':
        this.#onRemoved(server, from, message.key)
        break
      case 'digest':
        this.#onDigest(server, from, message.digest)
        break
    }
  }

  #onItem(server: OtherServer, from: ServerId, { key, ...item }: SharedItem & { key: string }): void {
    const { items, unconfirmed } = server
    if (!items.has(key) && items.size >= maxItemsPerServer) return
    unconfirmed?.delete(key)
    // Also if the content is malformed: the server would send the same again.
    items.set(key, fingerprintOf(key, item.content))
    this.#deps.source.onItem(from, key, item)
  }

  #onRemoved({ items, unconfirmed }: OtherServer, from: ServerId, key: string): void {
    unconfirmed?.delete(key)
    if (items.delete(key)) this.#deps.source.onRemoved(from, key)
  }

  #onDigest(server: OtherServer, from: ServerId, digest: bigint): void {
    for (const key of server.unconfirmed ?? []) this.#onRemoved(server, from, key)
    server.unconfirmed = undefined
    if (server.items.size >= maxItemsPerServer || digest === digestOf(server.items.values())) return
    if (this.#deps.clock.elapsed() - this.#askedAt >= minAskIntervalMs) this.ask()
  }
}
