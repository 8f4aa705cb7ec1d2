import * as Y from 'yjs'
import { ApiError, httpStatusOf } from '@plenum/protocol/errors'
import { type EditorFrame, encodeFrame, encodeUpdate } from './frames.ts'
import { OutgoingUpdates } from './outgoing-updates.ts'

/** The server takes no larger update. */
const mostBytes = 1024 * 1024
/** So many updates may be on their way; later ones wait and become one. */
const mostUnanswered = 32

export interface SyncHost {
  send(bytes: Uint8Array<ArrayBuffer>): void
  /** Local changes wait for `flush`. */
  waiting(): void
  /** `isSynced` or `isSaved` may differ. */
  changed(): void
  /** The server does not follow: open another channel. */
  startOver(): void
  error(error: ApiError): void
}

/**
 * Keeps a `Y.Doc` equal to the server's. Changes are in the document in any case, so nothing is kept for later: with each
 * channel both sides say what they have, and send what the other lacks.
 */
export class EditorSync {
  isSynced = false
  readonly #doc: Y.Doc
  readonly #origin: unknown
  readonly #host: SyncHost
  readonly #outgoing: OutgoingUpdates
  #channel: number | undefined
  #canWrite = false
  /** The server has all that was before, so that changes can go one by one. */
  #isFlowing = false
  /** There are local changes that no update of this channel holds. */
  #hasUnsent: boolean
  /** What cannot be stored was sent as a whole, so that nothing is left to try on this channel. */
  #isStuck = false
  /** The server said on this channel what it has, so that all it may be given was sent. */
  #wasAsked = false
  #lastNumber = 0
  #lastAnswered = 0
  #answerNumber = 0

  /** `origin`: of the transactions that bring the changes of others. */
  constructor(doc: Y.Doc, origin: unknown, host: SyncHost) {
    this.#doc = doc
    this.#origin = origin
    this.#host = host
    this.#outgoing = new OutgoingUpdates(doc)
    this.#hasUnsent = doc.store.clients.size > 0
    doc.on('update', this.#updated)
  }

  /** Whether all local changes are durable. */
  get isSaved(): boolean {
    return !this.#hasUnsent && this.#outgoing.isEmpty && this.#lastAnswered === this.#lastNumber
  }

  /** Whether there are local changes that are not sent, because the user is a viewer. */
  get isHeldBack(): boolean {
    return this.#channel !== undefined && this.#wasAsked && !this.#canWrite && this.#hasUnsent
  }

  /** Whether local changes wait for answers to earlier ones before they are sent. */
  get hasPostponed(): boolean {
    return !this.#outgoing.isEmpty
  }

  /** Whether there are local changes that the server does not take. */
  get hasRefused(): boolean {
    return this.#isStuck && this.#hasUnsent
  }

  open(channel: number, canWrite: boolean): void {
    this.#channel = channel
    this.#canWrite = canWrite
    this.#isStuck = false
    this.#wasAsked = false
    this.#host.send(encodeFrame(channel, 'syncStep1', Y.encodeStateVector(this.#doc)))
  }

  /** What was sent and not answered is sent again, as part of the whole. */
  lost(): void {
    this.#hasUnsent = !this.isSaved
    this.#outgoing.clear()
    this.#lastAnswered = this.#lastNumber
    this.#channel = undefined
    this.#isFlowing = false
    this.isSynced = false
  }

  roleChanged(canWrite: boolean): void {
    if (this.#channel === undefined || this.#canWrite === canWrite) return
    this.#canWrite = canWrite
    if (canWrite) return this.#host.startOver()
    // What was sent before is still answered: with `saved`, or with `refused`.
    this.#stop(this.#hasUnsent || !this.#outgoing.isEmpty)
  }

  destroy(): void {
    this.#doc.off('update', this.#updated)
  }

  receive(frame: EditorFrame): void {
    switch (frame.kind) {
      case 'syncStep1':
        return this.#answer(frame.bytes)
      case 'syncStep2':
        try {
          Y.applyUpdate(this.#doc, frame.bytes, this.#origin)
        } finally {
          this.isSynced = true
          this.#host.changed()
        }
        return
      case 'update':
        return Y.applyUpdate(this.#doc, frame.bytes, this.#origin)
      case 'saved':
        this.#answered(frame.number)
        this.flush()
        return this.#host.changed()
      case 'refused':
        return this.#refused(frame)
    }
  }

  flush(): void {
    if (!this.#isFlowing || this.#outgoing.isEmpty) return
    if (this.#lastNumber - this.#lastAnswered >= mostUnanswered) return
    for (const update of this.#outgoing.take(mostBytes)) {
      if (!this.#send('update', update)) return
    }
  }

  #updated = (update: Uint8Array, origin: unknown, _doc: Y.Doc, transaction: Y.Transaction): void => {
    if (origin === this.#origin) return
    if (this.#isFlowing) {
      this.#outgoing.add(update, transaction.beforeState)
      this.#host.waiting()
    } else {
      this.#hasUnsent = true
    }
    this.#host.changed()
  }

  /** Sends all that the server lacks. */
  #answer(stateVector: Uint8Array): void {
    this.#wasAsked = true
    if (this.#channel === undefined || this.#isStuck || !(this.#canWrite || this.#hasUnsent)) return
    const missing = Y.encodeStateAsUpdate(this.#doc, stateVector)
    this.#outgoing.clear()
    this.#hasUnsent = false
    this.#isFlowing = this.#canWrite
    if (!isEmpty(missing) && this.#send('syncStep2', missing)) this.#answerNumber = this.#lastNumber
    this.#host.changed()
  }

  /** False if it cannot be sent. */
  #send(kind: 'syncStep2' | 'update', update: Uint8Array): boolean {
    if (update.length > mostBytes) {
      this.#isStuck = true
      this.#stop()
      this.#host.error(new ApiError('INVALID_ARGUMENT', 'A change must not be larger than 1 MiB.'))
      return false
    }
    this.#host.send(encodeUpdate(this.#channel as number, kind, ++this.#lastNumber, update))
    return true
  }

  #answered(number: number): void {
    this.#lastAnswered = Math.min(this.#lastNumber, Math.max(this.#lastAnswered, number))
  }

  #refused({ number, reason, status }: EditorFrame & { kind: 'refused' }): void {
    // A later one that is durable held it.
    if (number <= this.#lastAnswered) return
    this.#answered(number)
    this.#stop()
    if (this.#canWrite && number !== this.#answerNumber) return this.#host.startOver()
    this.#isStuck = true
    // A viewer hears of it by `isHeldBack`.
    if (!this.#canWrite) return
    const isKnown = status !== undefined && Object.hasOwn(httpStatusOf, status)
    this.#host.error(new ApiError(isKnown ? status : 'FAILED_PRECONDITION', reason))
  }

  /** Changes stay here until there is another channel. */
  #stop(hasUnsent = true): void {
    this.#hasUnsent = hasUnsent
    this.#outgoing.clear()
    this.#isFlowing = false
    this.#host.changed()
  }
}

/** Neither structs nor deletions. */
const isEmpty = (update: Uint8Array) => update.length === 2 && update[0] === 0 && update[1] === 0
