import { ApiError } from '@plenum/protocol'
import type { Position } from '@plenum/protocol/realtime'
import type { Bus } from '../platform/bus.ts'
import { LaneQueue } from '../platform/lane-queue.ts'
import type { Log } from '../platform/log.ts'
import type { Db } from '../store/db.ts'
import * as stored from '../store/live-states.ts'
import { inLockOrder } from '../store/lock-order.ts'
import { AccessChanged, type Commits, type Sender } from './commits.ts'
import { readOnly } from './editor-member.ts'
import type { OpenDocument } from './open-document.ts'

export interface WriterParts {
  commits: Commits
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

interface Pending {
  change: stored.Change
  from: Sender
  outcome: Outcome
}

type Result = Awaited<ReturnType<typeof stored.set>>

/** What one transaction stores; the rest waits for the next. */
const most = { documents: 50, changesPerDocument: 500 }
/** A transaction that takes longer leaves the other documents to the next. */
const longMs = 20

/** Stores what clients set, of several documents in one transaction, and answers once it is durable. API keys take turns. */
export class LiveStateWriter {
  readonly #parts: WriterParts
  readonly #waiting = new Map<OpenDocument, Pending[]>()
  /** The documents in `#waiting`. */
  readonly #order = new LaneQueue<OpenDocument>()
  /** What the last transaction had no time for: comes before everything else. */
  #left = new Map<OpenDocument, Pending[]>()
  #busy: Promise<void> | undefined

  constructor(parts: WriterParts) {
    this.#parts = parts
  }

  /** By somebody who may write. */
  set(document: OpenDocument, change: stored.Change, from: Sender, outcome: Outcome): void {
    const waiting = this.#waiting.get(document)
    if (waiting) waiting.push({ change, from, outcome })
    else this.#add(document, [{ change, from, outcome }])
    this.#busy ??= this.#run()
  }

  /** Resolves when nothing waits any more. */
  async idle(): Promise<void> {
    await this.#busy
  }

  async #run(): Promise<void> {
    while (this.#waiting.size > 0 || this.#left.size > 0) {
      // What arrives in one turn of the event loop is stored together.
      await new Promise((resolve) => setImmediate(resolve))
      await this.#store(await this.#takeAllowed())
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
    while (taken.size < most.documents) {
      const document = this.#order.take()
      if (!document) break
      const waiting = this.#waiting.get(document) as Pending[]
      taken.set(document, waiting.splice(0, most.changesPerDocument))
      this.#waiting.delete(document)
      if (waiting.length > 0) rest.set(document, waiting)
    }
    for (const [document, waiting] of rest) this.#add(document, waiting)
    return taken
  }

  async #store(taken: ReadonlyMap<OpenDocument, Pending[]>): Promise<void> {
    const documents = inLockOrder(taken.keys(), idOf)
    if (documents.length === 0) return
    const { commits, log, now } = this.#parts
    let results = new Map<OpenDocument, Result>()
    const apiKeys = new Set(documents.map(({ apiKey }) => apiKey))
    const senders = [...taken.values()].flat().map(({ from }) => from)
    const work = async (db: Db) => {
      // Of an attempt that collided nothing remains.
      results = new Map()
      const begunAt = performance.now()
      for (const document of documents) {
        const changes = (taken.get(document) as Pending[]).map(({ change }) => change)
        results.set(document, await stored.set(db, document.apiKey, document, changes, now()))
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
      return
    }
    for (const [document, pending] of taken) {
      if (results.has(document)) this.#settle(document, pending, results.get(document))
      else this.#left.set(document, pending)
    }
  }

  #settle(document: OpenDocument, pending: readonly Pending[], result: Result): void {
    const { apiKey, organizationId, documentId } = document
    const position = result?.position
    for (const { change, outcome } of pending) {
      if (!result) outcome.refused(new ApiError('NOT_FOUND', 'The document does not exist any more.'))
      else if (result.refused.has(change) || !position) {
        outcome.refused(new ApiError('INVALID_ARGUMENT', stored.tooLarge))
      } else outcome.done(position)
    }
    if (position) {
      this.#parts.bus.publish({ kind: 'liveState', apiKey, organizationId, documentId, seq: position.seq })
    }
  }
}

/** Ids may hold any visible character, but no NUL. */
const idOf = ({ apiKey, organizationId, documentId }: OpenDocument) =>
  `${apiKey}\0${organizationId}\0${documentId}`
