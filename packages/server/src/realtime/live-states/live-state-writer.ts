import { ApiError } from '@plenum/protocol'
import type { Position } from '@plenum/protocol/realtime'
import type { Bus } from '../../bus.ts'
import type { Clock } from '../../platform/clock.ts'
import { documentKey, type DocumentRef } from '../../store/refs.ts'
import { LaneQueue } from '../../platform/turns/lane-queue.ts'
import type { Log } from '../../platform/log/log.ts'
import type { Database, Db } from '../../store/engine/db.ts'
import * as stored from '../../store/documents/live-states.ts'
import { inLockOrder } from '../../store/engine/lock-order.ts'
import type { Commits, Sender } from '../authorization/commits.ts'
import { type BatchWork, BatchWriter } from '../writes/batch-writer.ts'
import { readOnly } from '../rooms/member.ts'
import { type LargeJson, maxInlineJsonBytes } from '../messages/large-json.ts'

export interface LiveStateWriterDeps {
  commits: Commits
  database: Pick<Database, 'ping'>
  largeJson: LargeJson
  bus: Bus
  log: Log
  clock: Clock
}

/** An open document whose live states are set. */
export interface LiveStateDocument extends DocumentRef {
  readonly apiKey: string
  /** Everything that is stored may have changed. */
  reload(): void
}

/** Exactly one of these is called, once. */
export interface LiveStateOutcome {
  /** The change is durable, with the document at that position. */
  onStored(position: Position): void
  onRefused(error: ApiError): void
}

/** A value that a client sets. */
interface Setting extends stored.Change {
  /** Size of the client's message. */
  bytes: number
}

interface Pending {
  setting: Setting
  from: Sender
  outcome: LiveStateOutcome
}

type Result = Awaited<ReturnType<typeof stored.set>>

/** What one transaction stores; the rest waits for the next. One change may exceed the bytes. */
const maxDocumentsPerTick = 50
const maxChangesPerDocument = 500
const maxBytesPerTick = 1024 * 1024
/** A transaction that takes longer leaves the other documents to the next. */
const maxTransactionMs = 10

/** The changes of one document that a tick stores. */
type DocumentChanges = readonly [LiveStateDocument, Pending[]]
/** Without the documents for which the transaction had no time. */
type Results = ReadonlyMap<LiveStateDocument, Result>

/** Stores the live states that clients set, and answers once they are durable. API keys take turns. */
export class LiveStateWriter implements BatchWork<DocumentChanges, Results> {
  /** Changes that arrive in one iteration of the event loop are stored together. */
  readonly tickMs = 0
  readonly #deps: LiveStateWriterDeps
  readonly #writer: BatchWriter<DocumentChanges, Results>
  readonly #waiting = new Map<LiveStateDocument, Pending[]>()
  /** The documents in `#waiting`, perhaps without those in `#merging`. */
  readonly #order = new LaneQueue<LiveStateDocument>()
  /** Documents whose first change in `#waiting` is being merged with a large value. Others do not wait for it. */
  readonly #merging = new Map<LiveStateDocument, Promise<void>>()
  /** The documents for which the last transaction had no time. The next tick stores them first. */
  #left: DocumentChanges[] = []

  constructor(deps: LiveStateWriterDeps) {
    this.#deps = deps
    this.#writer = new BatchWriter(deps, this)
  }

  /** The sender must be allowed to write. */
  set(document: LiveStateDocument, setting: Setting, from: Sender, outcome: LiveStateOutcome): void {
    const pending = { setting, from, outcome }
    const waiting = this.#waiting.get(document)
    if (waiting) waiting.push(pending)
    else this.#add(document, [pending])
    this.#writer.wake()
  }

  /** Resolves when nothing waits any more. */
  async idle(): Promise<void> {
    while (!this.#writer.isIdle || this.#merging.size > 0) {
      await Promise.all([this.#writer.idle(), ...this.#merging.values()])
    }
  }

  /** A change that is being merged wakes the writer afterwards. */
  hasWaiting(): boolean {
    return !this.#order.isEmpty || this.#left.length > 0
  }

  /** Refuses the changes whose senders may not write any more. */
  async admit(taken: readonly DocumentChanges[]): Promise<readonly DocumentChanges[]> {
    const undecided = new Set<Sender>()
    for (const [, pending] of taken) {
      for (const { from } of pending) if (from.mayStore === undefined) undecided.add(from)
    }
    await Promise.all(Array.from(undecided, (from) => from.whenDecided()))
    const admitted: DocumentChanges[] = []
    for (const [document, pending] of taken) {
      for (const { from, outcome } of pending) {
        if (from.mayStore === false) outcome.onRefused(new ApiError('PERMISSION_DENIED', readOnly.message))
      }
      const allowed = pending.filter(({ from }) => from.mayStore)
      if (allowed.length > 0) admitted.push([document, allowed])
      // Access has changed once more.
      const isUndecided = ({ from }: Pending) => from.mayStore === undefined
      if (pending.some(isUndecided)) this.#putBack(document, pending.filter(isUndecided))
    }
    return admitted
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

  takeItems(): readonly DocumentChanges[] {
    const left = this.#left
    this.#left = []
    if (left.length > 0) return left
    const taken: DocumentChanges[] = []
    const rest = new Map<LiveStateDocument, Pending[]>()
    let bytes = 0
    while (taken.length < maxDocumentsPerTick && bytes < maxBytesPerTick) {
      const document = this.#order.take()
      if (!document) break
      const waiting = this.#waiting.get(document)
      if (!waiting || this.#merging.has(document)) continue
      let count = 0
      while (count < Math.min(waiting.length, maxChangesPerDocument) && bytes < maxBytesPerTick) {
        bytes += (waiting[count++] as Pending).setting.bytes
      }
      taken.push([document, waiting.splice(0, count)])
      this.#waiting.delete(document)
      if (waiting.length > 0) rest.set(document, waiting)
    }
    for (const [document, waiting] of rest) this.#add(document, waiting)
    return taken
  }

  originOf(taken: readonly DocumentChanges[]): { apiKeys: Set<string>; senders: Sender[] } {
    const apiKeys = new Set(taken.map(([{ apiKey }]) => apiKey))
    return { apiKeys, senders: taken.flatMap(([, pending]) => pending.map(({ from }) => from)) }
  }

  async store(db: Db, taken: readonly DocumentChanges[]): Promise<Results> {
    const results = new Map<LiveStateDocument, Result>()
    const startedAt = performance.now()
    for (const [document, pending] of inLockOrder(taken, ([document]) => lockKey(document))) {
      const changes = pending.map(({ setting }) => setting)
      const { apiKey } = document
      const at = this.#deps.clock.now()
      results.set(document, await stored.set(db, apiKey, document, changes, at, maxInlineJsonBytes))
      if (performance.now() - startedAt > maxTransactionMs) break
    }
    return results
  }

  onAccessChanged(taken: readonly DocumentChanges[]): DocumentChanges[] {
    for (const [document, pending] of taken) this.#putBack(document, pending)
    return []
  }

  onFailed(taken: readonly DocumentChanges[], error: unknown): void {
    this.#deps.log.error({ err: error, documents: taken.length }, 'live states could not be stored')
    const failure = new ApiError('UNAVAILABLE', 'The live state could not be stored.')
    for (const [, pending] of taken) for (const { outcome } of pending) outcome.onRefused(failure)
  }

  onRecovered(taken: readonly DocumentChanges[]): void {
    for (const [document] of taken) document.reload()
  }

  onStored(taken: readonly DocumentChanges[], results: Results = new Map()): void {
    for (const [document, pending] of taken) {
      if (!results.has(document)) {
        this.#left.push([document, pending])
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
      outcome.onRefused(new ApiError('UNAVAILABLE', 'The live state could not be stored.'))
    }
    this.#merging.delete(document)
    this.#order.add(document.apiKey, document)
    this.#writer.wake()
  }

  #settle(document: LiveStateDocument, pending: readonly Pending[], result: Result): void {
    const { apiKey, organizationId, documentId } = document
    const position = result?.position
    for (const one of pending) {
      const refusal = result?.refused.get(one.setting)
      if (refusal) one.outcome.onRefused(new ApiError(refusal.status, refusal.message))
      else if (position) one.outcome.onStored(position)
      else one.outcome.onRefused(new ApiError('NOT_FOUND', 'The document does not exist any more.'))
    }
    if (position) {
      this.#deps.bus.publish({ kind: 'liveState', apiKey, organizationId, documentId, seq: position.seq })
    }
  }
}

const lockKey = (document: LiveStateDocument) => `${document.apiKey}\0${documentKey(document)}`
