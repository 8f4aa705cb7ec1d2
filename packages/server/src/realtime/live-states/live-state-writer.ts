import { ApiError } from '@plenum/protocol'
import type { Position } from '@plenum/protocol/realtime'
import type { Bus } from '../../platform/bus.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Log } from '../../platform/log/log.ts'
import { LaneQueue } from '../../platform/turns/lane-queue.ts'
import * as stored from '../../store/documents/live-states.ts'
import { whenCertain } from '../../store/engine/certainty.ts'
import type { Database, Db } from '../../store/engine/db.ts'
import { inLockOrder } from '../../store/engine/lock-order.ts'
import { documentKey, type DocumentRef } from '../../store/refs.ts'
import { AccessChanged, type Commits, type Sender } from '../authorization/commits.ts'
import { type LargeJson, maxInlineJsonBytes } from '../messages/large-json.ts'
import { readOnly } from '../rooms/member.ts'

export interface LiveStateWriterDeps {
  commits: Commits
  database: Pick<Database, 'ping'>
  largeJson: LargeJson
  bus: Bus
  clock: Clock
  log: Log
}

/** An open document whose live states are set. */
export interface LiveStateDocument extends DocumentRef {
  readonly apiKey: string
  /** Everything that is stored may have changed. */
  reload(): void
}

/** Exactly one of these is called, once. */
export interface Outcome {
  /** The change is durable, with the document at that position. */
  done(position: Position): void
  refused(error: ApiError): void
}

/** A value that a client sets. */
interface Setting extends stored.Change {
  /** Size of the client's message. */
  bytes: number
}

interface Pending {
  setting: Setting
  from: Sender
  outcome: Outcome
}

type Result = Awaited<ReturnType<typeof stored.set>>

/** What one transaction stores; the rest waits for the next. One change may exceed `bytes`. */
const maxPerTransaction = { documents: 50, changesPerDocument: 500, bytes: 1024 * 1024 }
/** A transaction that takes longer leaves the other documents to the next. */
const maxTransactionMs = 10

/**
 * Stores what clients set, for several documents in one transaction, and calls back once it is durable. API keys take
 * turns.
 */
export class LiveStateWriter {
  readonly #deps: LiveStateWriterDeps
  readonly #waiting = new Map<LiveStateDocument, Pending[]>()
  /** The documents in `#waiting`, perhaps without those in `#merging`. */
  readonly #order = new LaneQueue<LiveStateDocument>()
  /** Documents whose first change in `#waiting` is being merged with a large value. Other documents do not wait for it. */
  readonly #merging = new Map<LiveStateDocument, Promise<void>>()
  /** Changes that the last transaction had no time for. They come before everything else. */
  #postponed = new Map<LiveStateDocument, Pending[]>()
  #busy: Promise<void> | undefined

  constructor(deps: LiveStateWriterDeps) {
    this.#deps = deps
  }

  /** The sender must be allowed to write when this is called. */
  set(document: LiveStateDocument, setting: Setting, from: Sender, outcome: Outcome): void {
    const pending = { setting, from, outcome }
    const waiting = this.#waiting.get(document)
    if (waiting) waiting.push(pending)
    else this.#add(document, [pending])
    this.#start()
  }

  /** Resolves when nothing waits any more. */
  async idle(): Promise<void> {
    while (this.#busy || this.#merging.size > 0) await Promise.all([this.#busy, ...this.#merging.values()])
  }

  #start(): void {
    // `#merge` starts the loop again when it is done.
    if (!this.#order.isEmpty) this.#busy ??= this.#run()
  }

  async #run(): Promise<void> {
    while (!this.#order.isEmpty || this.#postponed.size > 0) {
      // Changes that arrive in one turn of the event loop are stored together.
      await new Promise((resolve) => setImmediate(resolve))
      const taken = await this.#takeAllowed()
      await this.#store(taken)
    }
    this.#busy = undefined
  }

  /** Takes the next changes, without those whose senders may not write any more. */
  async #takeAllowed(): Promise<Map<LiveStateDocument, Pending[]>> {
    const taken = this.#take()
    const undecided = new Set<Sender>()
    for (const { from } of [...taken.values()].flat()) if (from.mayStore === undefined) undecided.add(from)
    await Promise.all(Array.from(undecided, (from) => from.decided()))
    for (const [document, pending] of taken) {
      for (const { from, outcome } of pending) {
        if (from.mayStore === false) outcome.refused(new ApiError('PERMISSION_DENIED', readOnly.message))
      }
      const allowed = pending.filter(({ from }) => from.mayStore)
      if (allowed.length > 0) taken.set(document, allowed)
      else taken.delete(document)
      // Access has changed once more.
      const isUndecided = ({ from }: Pending) => from.mayStore === undefined
      if (pending.some(isUndecided)) this.#putBack(document, pending.filter(isUndecided))
    }
    return taken
  }

  #add(document: LiveStateDocument, pending: Pending[]): void {
    this.#waiting.set(document, pending)
    this.#order.add(document.apiKey, document)
  }

  #putBack(document: LiveStateDocument, pending: readonly Pending[]): void {
    const waiting = this.#waiting.get(document)
    if (waiting) waiting.unshift(...pending)
    else this.#add(document, [...pending])
  }

  #take(): Map<LiveStateDocument, Pending[]> {
    let taken = this.#postponed
    this.#postponed = new Map()
    if (taken.size > 0) return taken
    taken = new Map()
    const rest = new Map<LiveStateDocument, Pending[]>()
    let bytes = 0
    while (taken.size < maxPerTransaction.documents && bytes < maxPerTransaction.bytes) {
      const document = this.#order.take()
      if (!document) break
      const waiting = this.#waiting.get(document)
      if (!waiting || this.#merging.has(document)) continue
      const maxChanges = Math.min(waiting.length, maxPerTransaction.changesPerDocument)
      let count = 0
      while (count < maxChanges && bytes < maxPerTransaction.bytes) {
        bytes += (waiting[count++] as Pending).setting.bytes
      }
      taken.set(document, waiting.splice(0, count))
      this.#waiting.delete(document)
      if (waiting.length > 0) rest.set(document, waiting)
    }
    for (const [document, waiting] of rest) this.#add(document, waiting)
    return taken
  }

  async #store(taken: ReadonlyMap<LiveStateDocument, Pending[]>): Promise<void> {
    const documents = inLockOrder(taken.keys(), lockKey)
    if (documents.length === 0) return
    const { commits, database, log, clock } = this.#deps
    let results = new Map<LiveStateDocument, Result>()
    const apiKeys = new Set(documents.map(({ apiKey }) => apiKey))
    const senders = [...taken.values()].flat().map(({ from }) => from)
    const work = async (db: Db) => {
      // A transaction that collided runs again, from the beginning.
      results = new Map()
      const startedAt = performance.now()
      for (const document of documents) {
        const changes = (taken.get(document) as Pending[]).map(({ setting }) => setting)
        const now = clock.now()
        results.set(
          document,
          await stored.set(db, document.apiKey, document, changes, now, maxInlineJsonBytes),
        )
        if (performance.now() - startedAt > maxTransactionMs) return
      }
    }
    try {
      await commits.write(apiKeys, senders, work)
    } catch (error) {
      if (error instanceof AccessChanged) {
        for (const [document, pending] of taken) this.#putBack(document, pending)
        return
      }
      log.error({ err: error, documents: documents.length }, 'live states could not be stored')
      const failure = new ApiError('UNAVAILABLE', 'The live state could not be stored.')
      for (const pending of taken.values()) for (const { outcome } of pending) outcome.refused(failure)
      void whenCertain(database).then(() => documents.forEach((document) => document.reload()))
      return
    }
    for (const [document, pending] of taken) {
      if (!results.has(document)) {
        this.#postponed.set(document, pending)
        continue
      }
      const result = results.get(document)
      const { count = pending.length } = result ?? {}
      this.#settle(document, pending.slice(0, count), result)
      // Behind the other documents: large values must not keep them waiting.
      if (count < pending.length) this.#putBack(document, pending.slice(count))
      const mergeWith = result?.mergeWith
      if (mergeWith !== undefined) this.#merging.set(document, this.#merge(document, mergeWith))
    }
  }

  /** Merges the first waiting change with the stored value. If the stored value changes meanwhile, it is merged again. */
  async #merge(document: LiveStateDocument, below: string): Promise<void> {
    const { largeJson, log } = this.#deps
    const waiting = this.#waiting.get(document) as Pending[]
    const { setting, outcome } = waiting[0] as Pending
    try {
      const json = await largeJson.merge(document.apiKey, below, setting.data, stored.maxValueBytes)
      setting.merged = { below, json }
    } catch (error) {
      log.error({ err: error }, 'a live state could not be merged')
      waiting.shift()
      if (waiting.length === 0) this.#waiting.delete(document)
      outcome.refused(new ApiError('UNAVAILABLE', 'The live state could not be stored.'))
    }
    this.#merging.delete(document)
    this.#order.add(document.apiKey, document)
    this.#start()
  }

  #settle(document: LiveStateDocument, pending: readonly Pending[], result: Result): void {
    const { apiKey, organizationId, documentId } = document
    const position = result?.position
    for (const { setting, outcome } of pending) {
      const refusal = result?.refused.get(setting)
      if (refusal) outcome.refused(new ApiError(refusal.status, refusal.message))
      else if (position) outcome.done(position)
      else outcome.refused(new ApiError('NOT_FOUND', 'The document does not exist any more.'))
    }
    if (position) {
      this.#deps.bus.publish({ kind: 'liveState', apiKey, organizationId, documentId, seq: position.seq })
    }
  }
}

const lockKey = (document: LiveStateDocument) => `${document.apiKey}\0${documentKey(document)}`
