import { ApiError } from '@plenum/protocol'
import type { Position } from '@plenum/protocol/realtime'
import type { Signals } from '../../peers/signals.ts'
import type { Clock } from '../../platform/clock.ts'
import type { DocumentRef } from '../../store/refs.ts'
import { LaneQueue } from '../../platform/turns/lane-queue.ts'
import type { Log } from '../../platform/log/log.ts'
import type { Database, Db } from '../../store/engine/db.ts'
import * as stored from '../../store/documents/live-states.ts'
import type { Commits, Sender } from '../authorization/commits.ts'
import { type BatchWork, BatchWriter } from '../writes/batch-writer.ts'
import { readOnly } from '../rooms/refusals.ts'
import { type LargeJson, maxInlineJsonBytes } from '../messages/large-json.ts'

export interface LiveStateWriterDeps {
  commits: Commits
  database: Pick<Database, 'ping'>
  largeJson: LargeJson
  signals: Pick<Signals, 'publish'>
  log: Log
  clock: Clock
}

/** An open document whose live states are set. */
export interface LiveStateDocument extends DocumentRef {
  readonly apiKey: string
  /** How many changes are not yet stored or refused. While there are any, the document must notice changes of access. */
  unsettledChanges: number
  /** Reads again everything that is stored, because all of it may have changed. */
  reload(): void
}

/** How the sender learns the result of a change. Exactly one method is called, once. */
export interface LiveStateOutcome {
  /** The change is durable. The position of the document includes it. */
  onStored(position: Position): void
  onRefused(error: ApiError): void
}

/** A change that a client requests. */
interface RequestedChange extends stored.Change {
  /** Bytes of the client's message. */
  bytes: number
}

/** A change that waits to be stored. */
interface WaitingChange {
  change: RequestedChange
  from: Sender
  outcome: LiveStateOutcome
}

type Result = stored.ChangeResult | undefined

/** Limits of one transaction. Further changes wait for the next tick. A single change may exceed the bytes. */
const maxDocumentsPerTick = 50
const maxChangesPerDocument = 500
const maxBytesPerTick = 1024 * 1024
/** After this time, a transaction leaves its other documents to the next transaction. */
const maxTransactionMs = 10

/** The changes of one document that a tick stores. */
type DocumentChanges = readonly [LiveStateDocument, WaitingChange[]]
/** The results by document, without the documents for which the transaction had no time. */
type Results = ReadonlyMap<LiveStateDocument, Result>

/** Stores the live states that clients set, and reports when they are durable. API keys take turns. */
export class LiveStateWriter implements BatchWork<DocumentChanges, Results> {
  /** Changes that arrive in one iteration of the event loop are stored together. */
  readonly tickMs = 0
  readonly #deps: LiveStateWriterDeps
  readonly #writer: BatchWriter<DocumentChanges, Results>
  readonly #waiting = new Map<LiveStateDocument, WaitingChange[]>()
  /** The order in which the documents in `#waiting` are stored. May lack documents that are in `#setAside`. */
  readonly #order = new LaneQueue<LiveStateDocument>()
  /**
   * Documents of which ticks take no changes: the first change is being merged with a large value, a decision about a sender
   * is pending, or the changes are stored alone because another transaction has locked the document. Other documents do not
   * wait for that.
   */
  readonly #setAside = new Map<LiveStateDocument, Promise<void>>()
  /** The documents for which the last transaction had no time. The next tick stores them first. */
  #unstored: DocumentChanges[] = []

  constructor(deps: LiveStateWriterDeps) {
    this.#deps = deps
    this.#writer = new BatchWriter(deps, this)
  }

  /** Queues a change. The caller has checked that the sender may write. */
  set(document: LiveStateDocument, change: RequestedChange, from: Sender, outcome: LiveStateOutcome): void {
    const waitingChange = { change, from, outcome: settling(document, outcome) }
    document.unsettledChanges++
    const waiting = this.#waiting.get(document)
    if (waiting) waiting.push(waitingChange)
    else this.#add(document, [waitingChange])
    this.#writer.wake()
  }

  /** Resolves when no change waits any more. */
  async idle(): Promise<void> {
    while (!this.#writer.isIdle || this.#setAside.size > 0) {
      await Promise.all([this.#writer.idle(), ...this.#setAside.values()])
    }
  }

  /** Changes of documents that are set aside do not count: the writer is woken when that ends. */
  hasWaiting(): boolean {
    return !this.#order.isEmpty || this.#unstored.length > 0
  }

  /** Refuses the changes whose senders may not write any more. Puts documents back if a decision is pending. */
  async refuseUnstorable(taken: readonly DocumentChanges[]): Promise<readonly DocumentChanges[]> {
    const others = taken.map(([document, changes]): DocumentChanges => {
      for (const { outcome } of changes.filter(hasLostAccess)) {
        outcome.onRefused(new ApiError('PERMISSION_DENIED', readOnly.message))
      }
      return [document, changes.filter((one) => !hasLostAccess(one))]
    })
    return this.#takeStorable(others.filter(([, changes]) => changes.length > 0))
  }

  /** Returns the documents whose senders may all write. Puts back all changes of the others, so that they stay in order. */
  #takeStorable(taken: readonly DocumentChanges[]): DocumentChanges[] {
    return taken.filter(([document, changes]) => {
      const canStore = changes.every(({ from }) => from.mayStore === true)
      if (!canStore) this.#putBack(document, changes)
      return canStore
    })
  }

  #add(document: LiveStateDocument, changes: WaitingChange[]): void {
    this.#waiting.set(document, changes)
    this.#order.add(document.apiKey, document)
  }

  #putBack(document: LiveStateDocument, changes: readonly WaitingChange[]): void {
    const waiting = this.#waiting.get(document)
    if (waiting) waiting.unshift(...changes)
    else this.#add(document, [...changes])
  }

  takeItems(): readonly DocumentChanges[] {
    const unstored = this.#unstored
    this.#unstored = []
    if (unstored.length > 0) return unstored
    const taken: DocumentChanges[] = []
    const rest = new Map<LiveStateDocument, WaitingChange[]>()
    let bytes = 0
    while (taken.length < maxDocumentsPerTick && bytes < maxBytesPerTick) {
      const document = this.#order.take()
      if (!document) break
      const waiting = this.#waiting.get(document)
      if (!waiting || this.#setAside.has(document)) continue
      const undecided = undecidedSenders(waiting.slice(0, maxChangesPerDocument))
      if (undecided.size > 0) {
        this.#setAsideUntil(document, Promise.all(Array.from(undecided, (from) => from.whenDecided())))
        continue
      }
      let count = 0
      while (count < Math.min(waiting.length, maxChangesPerDocument) && bytes < maxBytesPerTick) {
        bytes += (waiting[count++] as WaitingChange).change.bytes
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
    return { apiKeys, senders: taken.flatMap(([, changes]) => changes.map(({ from }) => from)) }
  }

  async store(db: Db, taken: readonly DocumentChanges[], isAlone: boolean): Promise<Results> {
    const startedAt = performance.now()
    const writes = taken.map(([document, waiting]) => ({
      apiKey: document.apiKey,
      document,
      changes: waiting.map(({ change }) => change),
    }))
    const results = await stored.setAll(db, writes, this.#deps.clock.now(), {
      maxMergeBytes: maxInlineJsonBytes,
      isLate: () => performance.now() - startedAt > maxTransactionMs,
      skipLocked: !isAlone,
    })
    return new Map(results.map((result, index) => [(taken[index] as DocumentChanges)[0], result]))
  }

  onAccessChanged(taken: readonly DocumentChanges[]): DocumentChanges[] {
    return this.#takeStorable(taken)
  }

  onFailed(taken: readonly DocumentChanges[], error: unknown): void {
    this.#deps.log.error({ err: error, documents: taken.length }, 'live states could not be stored')
    const failure = new ApiError('UNAVAILABLE', 'The live state could not be stored.')
    for (const [, changes] of taken) for (const { outcome } of changes) outcome.onRefused(failure)
  }

  onRecovered(taken: readonly DocumentChanges[]): void {
    for (const [document] of taken) document.reload()
  }

  onStored(taken: readonly DocumentChanges[], results: Results = new Map()): void {
    for (const [document, changes] of taken) {
      if (!results.has(document)) {
        this.#unstored.push([document, changes])
        continue
      }
      const result = results.get(document)
      if (result?.isLocked) {
        this.#setAsideUntil(document, this.#writer.storeAlone([document, changes], document.apiKey))
        continue
      }
      const { count = changes.length } = result ?? {}
      this.#settle(document, changes.slice(0, count), result)
      // The document is queued behind the other documents, so that its large values do not delay them.
      if (count < changes.length) this.#putBack(document, changes.slice(count))
      const mergeWith = result?.mergeWith
      if (mergeWith !== undefined) this.#setAsideUntil(document, this.#merge(document, mergeWith))
    }
  }

  /** Ticks take no changes of the document until the promise resolves. Replaces what it was set aside for. */
  #setAsideUntil(document: LiveStateDocument, ended: Promise<unknown>): void {
    const onError = (err: unknown) =>
      this.#deps.log.error({ err }, 'what the live states of a document waited for has failed')
    const aside: Promise<void> = ended.catch(onError).then(() => {
      if (this.#setAside.get(document) !== aside) return
      this.#setAside.delete(document)
      this.#order.add(document.apiKey, document)
      this.#writer.wake()
    })
    this.#setAside.set(document, aside)
  }

  /** Merges the first waiting change with the stored value `below`. If that is replaced meanwhile, the merge is repeated. */
  async #merge(document: LiveStateDocument, below: string): Promise<void> {
    const { largeJson, log } = this.#deps
    const waiting = this.#waiting.get(document) as WaitingChange[]
    const { change, outcome } = waiting[0] as WaitingChange
    try {
      const json = await largeJson.merge(document.apiKey, below, change.data, stored.maxValueBytes)
      change.merged = { below, json }
    } catch (error) {
      log.error({ err: error }, 'a live state could not be merged')
      waiting.shift()
      if (waiting.length === 0) this.#waiting.delete(document)
      outcome.onRefused(new ApiError('UNAVAILABLE', 'The live state could not be stored.'))
    }
  }

  #settle(document: LiveStateDocument, changes: readonly WaitingChange[], result: Result): void {
    const { apiKey, organizationId, documentId } = document
    const position = result?.position
    for (const one of changes) {
      const refusal = result?.refused.get(one.change)
      if (refusal) one.outcome.onRefused(new ApiError(refusal.status, refusal.message))
      else if (position) one.outcome.onStored(position)
      else one.outcome.onRefused(new ApiError('NOT_FOUND', 'The document does not exist any more.'))
    }
    if (position) {
      const { seq } = position
      this.#deps.signals.publish([{ kind: 'liveState', apiKey, organizationId, documentId, seq }])
    }
  }
}

/** The outcome of a change, after which the document no longer counts it. */
const settling = (document: LiveStateDocument, outcome: LiveStateOutcome): LiveStateOutcome => ({
  onStored(position) {
    document.unsettledChanges--
    outcome.onStored(position)
  },
  onRefused(error) {
    document.unsettledChanges--
    outcome.onRefused(error)
  },
})

const hasLostAccess = ({ from }: WaitingChange) => from.mayStore === false

/** The senders about whom a decision is pending. */
function undecidedSenders(changes: readonly WaitingChange[]): Set<Sender> {
  const undecided = new Set<Sender>()
  for (const { from } of changes) if (from.mayStore === undefined) undecided.add(from)
  return undecided
}
