import { ApiError } from '@plenum/protocol'
import type { Position } from '@plenum/protocol/realtime'
import type { Bus } from '../../platform/bus.ts'
import { LaneQueue } from '../../platform/turns/lane-queue.ts'
import type { Log } from '../../platform/log/log.ts'
import { whenCertain } from '../../store/engine/certainty.ts'
import type { Database, Db } from '../../store/engine/db.ts'
import * as stored from '../../store/documents/live-states.ts'
import { inLockOrder } from '../../store/engine/lock-order.ts'
import { AccessChanged, type Commits, type Sender } from '../authorization/commits.ts'
import { readOnly } from '../rooms/member.ts'
import { type LargeJson, maxInlineJsonBytes } from '../messages/large-json.ts'
import type { OpenDocument } from '../documents/open-document.ts'

export interface WriterParts {
  commits: Commits
  database: Pick<Database, 'ping'>
  largeJson: LargeJson
  bus: Bus
  log: Log
  now: () => number
}

/** What becomes of a change; exactly one is called, once. */
export interface Outcome {
  /** It is durable, with the document at that position. */
  done(position: Position): void
  refused(error: ApiError): void
}

/** What a client sets. */
interface Setting extends stored.Change {
  /** Of the message. */
  bytes: number
}

interface Pending {
  setting: Setting
  from: Sender
  outcome: Outcome
}

type Result = Awaited<ReturnType<typeof stored.set>>

/** What one transaction stores; the rest waits for the next. `bytes` may be exceeded by one change. */
const most = { documents: 50, changesPerDocument: 500, bytes: 1024 * 1024 }
/** A transaction that takes longer leaves the other documents to the next. */
const longMs = 10

/** Stores what clients set, of several documents in one transaction, and answers once it is durable. API keys take turns. */
export class LiveStateWriter {
  readonly #parts: WriterParts
  readonly #waiting = new Map<OpenDocument, Pending[]>()
  /** The documents in `#waiting`, perhaps without those in `#merging`. */
  readonly #order = new LaneQueue<OpenDocument>()
  /** Documents whose first change in `#waiting` is being merged with a large value. Others do not wait for it. */
  readonly #merging = new Map<OpenDocument, Promise<void>>()
  /** What the last transaction had no time for: comes before everything else. */
  #left = new Map<OpenDocument, Pending[]>()
  #busy: Promise<void> | undefined

  constructor(parts: WriterParts) {
    this.#parts = parts
  }

  /** By somebody who may write. */
  set(document: OpenDocument, setting: Setting, from: Sender, outcome: Outcome): void {
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
    // What is being merged starts it later.
    if (!this.#order.isEmpty) this.#busy ??= this.#run()
  }

  async #run(): Promise<void> {
    while (!this.#order.isEmpty || this.#left.size > 0) {
      // What arrives in one turn of the event loop is stored together.
      await new Promise((resolve) => setImmediate(resolve))
      const taken = await this.#takeAllowed()
      await this.#store(taken)
    }
    this.#busy = undefined
  }

  /** Without the changes whose setters may not write any more. */
  async #takeAllowed(): Promise<Map<OpenDocument, Pending[]>> {
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

  #add(document: OpenDocument, pending: Pending[]): void {
    this.#waiting.set(document, pending)
    this.#order.add(document.apiKey, document)
  }

  #putBack(document: OpenDocument, pending: readonly Pending[]): void {
    const waiting = this.#waiting.get(document)
    if (waiting) waiting.unshift(...pending)
    else this.#add(document, [...pending])
  }

  #take(): Map<OpenDocument, Pending[]> {
    let taken = this.#left
    this.#left = new Map()
    if (taken.size > 0) return taken
    taken = new Map()
    const rest = new Map<OpenDocument, Pending[]>()
    let bytes = 0
    while (taken.size < most.documents && bytes < most.bytes) {
      const document = this.#order.take()
      if (!document) break
      const waiting = this.#waiting.get(document)
      if (!waiting || this.#merging.has(document)) continue
      let count = 0
      while (count < Math.min(waiting.length, most.changesPerDocument) && bytes < most.bytes) {
        bytes += (waiting[count++] as Pending).setting.bytes
      }
      taken.set(document, waiting.splice(0, count))
      this.#waiting.delete(document)
      if (waiting.length > 0) rest.set(document, waiting)
    }
    for (const [document, waiting] of rest) this.#add(document, waiting)
    return taken
  }

  async #store(taken: ReadonlyMap<OpenDocument, Pending[]>): Promise<void> {
    const documents = inLockOrder(taken.keys(), idOf)
    if (documents.length === 0) return
    const { commits, database, log, now } = this.#parts
    let results = new Map<OpenDocument, Result>()
    const apiKeys = new Set(documents.map(({ apiKey }) => apiKey))
    const senders = [...taken.values()].flat().map(({ from }) => from)
    const work = async (db: Db) => {
      // Of an attempt that collided nothing remains.
      results = new Map()
      const begunAt = performance.now()
      for (const document of documents) {
        const changes = (taken.get(document) as Pending[]).map(({ setting }) => setting)
        results.set(
          document,
          await stored.set(db, document.apiKey, document, changes, now(), maxInlineJsonBytes),
        )
        if (performance.now() - begunAt > longMs) return
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
      void whenCertain(database).then(() => documents.forEach((document) => document.readAgain()))
      return
    }
    for (const [document, pending] of taken) {
      if (!results.has(document)) {
        this.#left.set(document, pending)
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

  /** Merges the first change that waits with the stored value. If that is another one by then, it is merged once more. */
  async #merge(document: OpenDocument, below: string): Promise<void> {
    const { largeJson, log } = this.#parts
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

  #settle(document: OpenDocument, pending: readonly Pending[], result: Result): void {
    const { apiKey, organizationId, documentId } = document
    const position = result?.position
    for (const one of pending) {
      const refusal = result?.refused.get(one.setting)
      if (refusal) one.outcome.refused(new ApiError(refusal.status, refusal.message))
      else if (position) one.outcome.done(position)
      else one.outcome.refused(new ApiError('NOT_FOUND', 'The document does not exist any more.'))
    }
    if (position) {
      this.#parts.bus.publish({ kind: 'liveState', apiKey, organizationId, documentId, seq: position.seq })
    }
  }
}

/** Ids may hold any visible character, but no NUL. */
const idOf = ({ apiKey, organizationId, documentId }: OpenDocument) =>
  `${apiKey}\0${organizationId}\0${documentId}`
