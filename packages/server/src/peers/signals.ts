import { setImmediate as nextIteration } from 'node:timers/promises'
import type { Bus, BusMessage, Signal } from '../bus.ts'
import { newId } from '../access/ids.ts'
import { type Clock, type StopTimer, systemClock } from '../platform/clock.ts'
import type { Log } from '../platform/log/log.ts'
import { isLoopHeld } from '../platform/turns/loop-time.ts'
import { SharedRuns } from '../platform/turns/shared-runs.ts'
import type { Database, Db } from '../store/engine/db.ts'
import * as stored from '../store/signals.ts'
import { isNumbered, sendHint } from './hints.ts'
import { mergeAccess } from './merge-access.ts'
import { everywhere, type Peers } from './peers.ts'

/** How often a server looks for signals of other servers. A message of a peer makes it look sooner. */
const pollMs = 500
/** After a message of a peer, the server waits this long for further ones. */
const gatherMs = 10
/** What a client sent is stored only if the last read of signals began at most this long ago. */
const maxAgeMs = 1_000
/** After a longer time without access to the database, sessions are not brought up to date, but closed. */
const maxBehindMs = 60_000
const retryMs = 1_000
/** While the database is not available, no more messages wait to be stored. */
const maxUnstored = 10_000
/** The server remembers for at most this many stored messages that it has published them. */
const maxPublishedIds = 10_000
const nothing = new Uint8Array()

interface SignalsDeps {
  database: Database
  /** The open sessions of this server. */
  bus: Bus
  peers: Peers
  log: Pick<Log, 'warn' | 'error'>
  clock?: Clock
  /** This server has missed signals: what its sessions know may be wrong. */
  onMissed: () => void
}

/**
 * Tells the open sessions of all servers what has changed. Those of this server are told at once. For the others, the
 * message is stored with the change, and every server looks for messages twice a second.
 */
export class Signals {
  readonly #deps: SignalsDeps
  readonly #clock: Clock
  #position: stored.SignalPosition | undefined
  /** When the latest successful read began, on the clock that only increases. */
  #readAt = 0
  readonly #reads = new SharedRuns(() => this.#readAll())
  #isGathering = false
  /** Messages that wait to be stored in a transaction of their own. */
  #unstored: BusMessage[] = []
  /** The id of each stored message. A transaction that runs again stores its message under another id. */
  readonly #ids = new WeakMap<BusMessage, string>()
  /**
   * The ids of messages that this server has stored and published, but not yet read. A message of its own that it has not
   * published was committed without an answer: it is published when it is read, as those of other servers. A forgotten id is
   * harmless: the message is published twice.
   */
  readonly #publishedIds = new Set<string>()
  #stopTimer: StopTimer = () => {}
  #isStopped = false

  constructor(deps: SignalsDeps) {
    this.#deps = deps
    this.#clock = deps.clock ?? systemClock
    deps.peers.listen('signals', everywhere, () => this.#gather())
    deps.peers.onMessagesMissed(() => this.#gather())
  }

  /** From the returned promise on, no signal is missed. Call it before the first session opens. */
  async start(): Promise<void> {
    if (this.#deps.database.exclusive) return
    await this.#reads.run()
    this.#stopTimer = this.#clock.setInterval(() => void this.#reads.run().catch(() => {}), pollMs)
  }

  /** Resolves when the sessions of this server have been told what others had committed before the call. */
  async catchUp(): Promise<void> {
    if (!this.#deps.database.exclusive) await this.#reads.run()
  }

  /** Resolves when all messages are stored, or cannot be. */
  async stop(): Promise<void> {
    this.#stopTimer()
    this.#isStopped = true
    if (this.#unstored.length > 0) await this.#storeWaiting()
  }

  /** Stores the messages with the transaction that makes the changes, except those about numbered data. */
  async store(db: Db, messages: readonly BusMessage[]): Promise<void> {
    const { database, peers } = this.#deps
    if (database.exclusive || messages.length === 0) return
    const signals = messages.flatMap((message) => {
      if (isNumbered(message)) return []
      const signalId = newId('sig')
      this.#ids.set(message, signalId)
      return { apiKey: message.apiKey, signalId, message: JSON.stringify(message) }
    })
    await stored.add(db, signals, idOf(peers.serverId), this.#clock.now())
  }

  /** Call it after the commit of the transaction that has stored the messages, with the same objects. */
  publish(messages: readonly BusMessage[]): void {
    const { bus, peers, database } = this.#deps
    for (const message of messages) bus.publish(message)
    if (database.exclusive) return
    this.#markPublished(messages)
    for (const message of messages) if (isNumbered(message)) sendHint(peers, message)
    if (!messages.every(isNumbered)) peers.send('signals', everywhere, nothing)
  }

  #markPublished(messages: readonly BusMessage[]): void {
    for (const message of messages) {
      const id = this.#ids.get(message)
      if (id !== undefined) this.#publishedIds.add(id)
    }
    for (const oldest of this.#publishedIds) {
      if (this.#publishedIds.size <= maxPublishedIds) break
      this.#publishedIds.delete(oldest)
    }
  }

  /** Publishes a message that no transaction has stored. */
  send(message: BusMessage): void {
    const { bus, database } = this.#deps
    if (database.exclusive || isNumbered(message)) return this.publish([message])
    bus.publish(message)
    if (this.#unstored.push(message) === 1) this.#clock.setTimeout(() => void this.#storeWaiting(), gatherMs)
  }

  /** Stores the messages that no transaction has stored, in one of its own. */
  async #storeWaiting(): Promise<void> {
    const { database, peers, log } = this.#deps
    const messages = this.#unstored
    this.#unstored = []
    try {
      await database.write((db) => this.store(db, messages))
      this.#markPublished(messages)
      peers.send('signals', everywhere, nothing)
    } catch (error) {
      log.warn(
        { err: error, messages: messages.length },
        'changes of access are not stored for the other servers yet; trying again',
      )
      this.#unstored = messages.concat(this.#unstored).slice(-maxUnstored)
      if (!this.#isStopped) this.#clock.setTimeout(() => void this.#storeWaiting(), retryMs)
    }
  }

  of(apiKey: string): ApiKeySignals {
    const completed = new WeakMap<Signal, BusMessage>()
    const complete = (message: Signal): BusMessage => {
      const known = completed.get(message) ?? { ...message, apiKey }
      completed.set(message, known)
      return known
    }
    return {
      store: (db, messages) => this.store(db, messages.map(complete)),
      publish: (messages) => this.publish(messages.map(complete)),
      send: (message) => this.send(complete(message)),
    }
  }

  /**
   * Resolves when this server has got all signals that were committed more than a second before this call. Returns undefined if
   * it has them already.
   */
  whenCurrent(): Promise<void> | undefined {
    if (this.#deps.database.exclusive || this.#clock.elapsed() - this.#readAt <= maxAgeMs) return undefined
    return this.#reads.run()
  }

  #gather(): void {
    if (this.#isGathering || this.#isStopped) return
    this.#isGathering = true
    this.#clock.setTimeout(() => {
      this.#isGathering = false
      void this.#reads.run().catch(() => {})
    }, gatherMs)
  }

  async #readAll(): Promise<void> {
    if (this.#isStopped) return
    const { database, bus, log, onMissed } = this.#deps
    const beganAt = this.#clock.elapsed()
    const isBehind = this.#position !== undefined && beganAt - this.#readAt > maxBehindMs
    const { position, signals } = await stored
      .readAfter(database, isBehind ? undefined : this.#position)
      .catch((error: unknown) => {
        log.warn({ err: error }, 'changes of other servers cannot be read')
        throw error
      })
    if (isBehind || signals === 'tooMany') onMissed()
    else {
      const unpublished = signals.filter(({ signalId }) => !this.#publishedIds.delete(signalId))
      // Commits wait for this. So it does not use the lower limit of `yieldIfLate` for work that can wait.
      const messages: BusMessage[] = []
      for (const { message } of unpublished) {
        if (isLoopHeld()) await nextIteration()
        messages.push(JSON.parse(message) as BusMessage)
      }
      for (const message of mergeAccess(messages)) {
        if (isLoopHeld()) await nextIteration()
        bus.publish(message)
      }
    }
    // Not earlier: `whenCurrent` promises that the sessions have been told.
    this.#position = position
    this.#readAt = beganAt
  }
}

/** The signals of one API key, for jobs. */
export interface ApiKeySignals {
  store(db: Db, messages: readonly Signal[]): Promise<void>
  publish(messages: readonly Signal[]): void
  send(message: Signal): void
}

const idOf = (serverId: string) => Buffer.from(serverId, 'latin1').toString('hex')
