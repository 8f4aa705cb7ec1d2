import * as Y from 'yjs'
import { ApiError, type ErrorStatus, httpStatusOf } from '@plenum/protocol/errors'
import { type EditorFrame, encodeFrame, encodeUpdate } from './frames.ts'
import { OutgoingUpdates } from './outgoing-updates.ts'
import { splitUpdate } from './split-update.ts'

/** The server refuses larger updates. */
const maxUpdateBytes = 1024 * 1024
/** Larger updates are sent in parts of this size, because the server checks each part at one go. */
const maxPartBytes = 256 * 1024
/** Limits the updates that are in flight without an answer. Later changes wait and become one update. */
const maxUnanswered = 32

interface SyncDeps {
  send(bytes: Uint8Array<ArrayBuffer>): void
  /** Asks for a call of `flush` soon, because there are local changes. */
  requestFlush(): void
  /** `isSynced` or `isSaved` may have changed. */
  onChange(): void
  /** Asks for a new channel, on which the client and the server compare their content again. */
  reopen(): void
  onError(error: ApiError): void
}

/** What happens to local changes on a channel. */
type Upload =
  /** Local changes wait until the server has sent its state vector. */
  | 'waiting'
  /** Each local change is sent. The server has everything before it, or everything before it was sent on this channel. */
  | 'flowing'
  /** Local changes stay in the document, because the user is a viewer or a new channel is about to open. */
  | 'paused'
  /**
   * Local changes stay in the document, because one was too large, or because the server refused an update of a viewer, or
   * the update with everything that the server lacked.
   */
  | 'refused'

type Refusal = EditorFrame & { kind: 'refused' }

type UpdateKind = 'syncStep2' | 'update'

/** An update, or a part of one, that is not sent yet. */
interface UnsentPart {
  kind: UpdateKind
  update: Uint8Array
  /** Whether it is sent only when everything before it is stored. */
  mustWait: boolean
  /** Whether it belongs to the update with everything that the server lacks. */
  isDifference: boolean
}

/** What is known only while a channel is open. */
interface Channel {
  readonly id: number
  canWrite: boolean
  /** Whether the content of the server has arrived. */
  isSynced: boolean
  upload: Upload
  /** The number of the update that holds everything the server lacked, or of the part of it that was sent last. */
  differenceNumber: number | undefined
  /** Whether the server refused changes because the editor is full. It asks for them again when there is space. */
  isFull: boolean
  /** Whether the update with everything that the server lacked is sent in parts. */
  isDivided: boolean
  /** Why parts of the difference were refused, after which the others were sent. Told when all are answered. */
  refusedParts: Refusal | undefined
  /** Whether the document has changes that the server has refused, although this user's are sent. */
  hasForeign: boolean
}

/**
 * Synchronizes a `Y.Doc` with the server. It keeps no queue across connections, because local changes are in the document
 * anyway: on each new channel, the client and the server exchange their state vectors, and each sends what the other lacks.
 */
export class EditorSync {
  readonly #doc: Y.Doc
  readonly #origin: unknown
  readonly #deps: SyncDeps
  readonly #outgoing: OutgoingUpdates
  #channel: Channel | undefined
  /**
   * Set when the server has stored what another user wrote under the Yjs client id of this document. The document then
   * differs from the stored one for good.
   */
  #taken: ApiError | undefined
  /** Whether the document has local changes that no update on this channel contains. */
  #hasUnsent: boolean
  #parts: UnsentPart[] = []
  #lastNumber = 0
  #lastAnswered = 0

  /** `origin` marks the transactions that apply the changes of the server. */
  constructor(doc: Y.Doc, origin: unknown, deps: SyncDeps) {
    this.#doc = doc
    this.#origin = origin
    this.#deps = deps
    this.#outgoing = new OutgoingUpdates(doc)
    this.#hasUnsent = doc.store.clients.size > 0
    doc.on('update', this.#onUpdate)
  }

  get isSynced(): boolean {
    return this.#channel?.isSynced ?? false
  }

  /** Whether the server has stored all local changes durably. */
  get isSaved(): boolean {
    return !this.#hasUnsent && !this.hasQueued && this.#lastAnswered === this.#lastNumber
  }

  /** Whether local changes stay here because the user is a viewer. */
  get hasViewerChanges(): boolean {
    const channel = this.#channel
    return channel !== undefined && channel.upload !== 'waiting' && !channel.canWrite && this.#hasUnsent
  }

  /** Whether local changes wait for the answers to earlier changes. */
  get hasQueued(): boolean {
    return !this.#outgoing.isEmpty || this.#parts.length > 0
  }

  /** Whether the server has refused local changes, or one was too large to be sent. */
  get hasRefused(): boolean {
    const channel = this.#channel
    return channel !== undefined && (channel.upload === 'refused' || channel.hasForeign) && this.#hasUnsent
  }

  openChannel(id: number, canWrite: boolean): void {
    this.#channel = {
      id,
      canWrite,
      isSynced: false,
      upload: 'waiting',
      differenceNumber: undefined,
      isFull: false,
      isDivided: false,
      refusedParts: undefined,
      hasForeign: false,
    }
    this.#deps.send(encodeFrame(id, 'syncStep1', Y.encodeStateVector(this.#doc)))
  }

  /** Updates without an answer may be lost. The next channel sends them again, as part of the difference. */
  closeChannel(): void {
    this.#hasUnsent = !this.isSaved
    this.#clearQueue()
    this.#lastAnswered = this.#lastNumber
    this.#channel = undefined
  }

  setCanWrite(canWrite: boolean): void {
    const channel = this.#channel
    if (!channel || channel.canWrite === canWrite) return
    channel.canWrite = canWrite
    if (canWrite) return this.#deps.reopen()
    // Updates in flight are still answered, with `saved` or with `refused`.
    this.#stop(channel, 'paused', this.#hasUnsent || this.hasQueued)
  }

  destroy(): void {
    this.#doc.off('update', this.#onUpdate)
  }

  receive(frame: EditorFrame): void {
    const channel = this.#channel
    if (!channel) return
    switch (frame.kind) {
      case 'syncStep1':
        return this.#sendDifference(channel, frame.bytes)
      case 'syncStep2':
        try {
          Y.applyUpdate(this.#doc, frame.bytes, this.#origin)
        } finally {
          channel.isSynced = true
          this.#deps.onChange()
        }
        return
      case 'update':
        return Y.applyUpdate(this.#doc, frame.bytes, this.#origin)
      case 'saved':
        this.#markAnswered(frame.number)
        return this.#afterAnswer(channel)
      case 'refused':
        return this.#onRefused(channel, frame)
    }
  }

  /** Sends local changes, unless too many updates are in flight. */
  flush(): void {
    const channel = this.#channel
    if (channel?.upload !== 'flowing' || this.#outgoing.isEmpty || this.#parts.length > 0) return
    if (this.#lastNumber - this.#lastAnswered >= maxUnanswered) return
    for (const update of this.#outgoing.take(maxUpdateBytes)) {
      if (!this.#send(channel, 'update', update)) return
    }
  }

  #onUpdate = (update: Uint8Array, origin: unknown, _doc: Y.Doc, transaction: Y.Transaction): void => {
    if (origin === this.#origin) return
    if (this.#channel?.upload === 'flowing') {
      this.#outgoing.add(update, transaction.beforeState)
      this.#deps.requestFlush()
    } else {
      this.#hasUnsent = true
    }
    this.#deps.onChange()
  }

  /**
   * Sends everything that the server lacks, as one update, or in parts if it is large. If changes had no answer yet, it is sent even if it is empty: the
   * state vector contains changes that the server has not stored yet, and the answer comes when they are stored. A viewer
   * sends it too, if there are local changes: they are saved if the server has them already.
   */
  #sendDifference(channel: Channel, stateVector: Uint8Array): void {
    if (this.#taken) return this.#onTaken(channel, this.#taken)
    if (channel.upload === 'refused' && !channel.isFull) return
    channel.isFull = channel.hasForeign = false
    channel.refusedParts = undefined
    channel.upload = channel.canWrite ? 'flowing' : 'paused'
    if (!channel.canWrite && !this.#hasUnsent) return
    const difference = Y.encodeStateAsUpdate(this.#doc, stateVector)
    const isWanted = !this.isSaved || !isEmpty(difference)
    this.#clearQueue()
    this.#hasUnsent = false
    if (isWanted) this.#send(channel, 'syncStep2', difference)
    this.#deps.onChange()
  }

  /** Sends an update, in parts if it is large. Returns false if a part would be too large. */
  #send(channel: Channel, kind: UpdateKind, update: Uint8Array): boolean {
    const parts = update.length > maxUpdateBytes ? splitUpdate(update, maxPartBytes) : [update]
    if (parts.some(({ length }) => length > maxUpdateBytes)) {
      this.#stop(channel, 'refused')
      const message = 'A change must not contain a single value of more than 1 MiB.'
      this.#deps.onError(new ApiError('INVALID_ARGUMENT', message))
      return false
    }
    if (kind === 'syncStep2') channel.isDivided = parts.length > 1
    for (const [index, part] of parts.entries()) {
      this.#parts.push({
        // A sync reply says that nothing is missing any more.
        kind: index === parts.length - 1 ? kind : 'update',
        update: part,
        mustWait: index > 0,
        isDifference: kind === 'syncStep2',
      })
    }
    this.#sendParts(channel)
    return true
  }

  #sendParts(channel: Channel): void {
    for (let part = this.#parts[0]; part; part = this.#parts[0]) {
      if (part.mustWait && this.#lastAnswered < this.#lastNumber) return
      this.#parts.shift()
      this.#deps.send(encodeUpdate(channel.id, part.kind, ++this.#lastNumber, part.update))
      if (part.isDifference) channel.differenceNumber = this.#lastNumber
    }
  }

  #clearQueue(): void {
    this.#outgoing.clear()
    this.#parts = []
  }

  #markAnswered(number: number): void {
    this.#lastAnswered = Math.min(this.#lastNumber, Math.max(this.#lastAnswered, number))
  }

  #onRefused(channel: Channel, refusal: Refusal): void {
    const { number, reason, status } = refusal
    if (status === 'ALREADY_EXISTS')
      return this.#onTaken(channel, (this.#taken = new ApiError(status, reason)))
    // A later update has its answer: it was saved and contains this one, or its own refusal was handled.
    if (number <= this.#lastAnswered) return
    this.#markAnswered(number)
    // Only one change was refused. The difference, which the client sends on a new channel, may be accepted.
    if (channel.canWrite && number !== channel.differenceNumber) {
      this.#stop(channel, 'paused')
      return this.#deps.reopen()
    }
    // Parts with the changes of another user, which this document has from elsewhere, do not keep back those of this user.
    if (channel.canWrite && status === 'PERMISSION_DENIED' && channel.isDivided) {
      channel.refusedParts = refusal
      return this.#afterAnswer(channel)
    }
    this.#refuse(channel, refusal)
  }

  #refuse(channel: Channel, { reason, status }: Refusal): void {
    channel.isFull = status === 'RESOURCE_EXHAUSTED'
    this.#stop(channel, 'refused')
    // A viewer gets another error, because of `hasViewerChanges`.
    if (channel.canWrite) this.#deps.onError(errorOf(status, reason))
  }

  #afterAnswer(channel: Channel): void {
    this.#sendParts(channel)
    const refusal = channel.refusedParts
    if (refusal && this.#lastAnswered === this.#lastNumber) {
      // The document has changes that the server does not store. The user goes on writing.
      channel.refusedParts = undefined
      channel.hasForeign = this.#hasUnsent = true
      this.#deps.onError(errorOf(refusal.status, refusal.reason))
    }
    this.flush()
    this.#deps.onChange()
  }

  #onTaken(channel: Channel, error: ApiError): void {
    this.#stop(channel, 'refused')
    this.#deps.onError(error)
  }

  /** Stops sending. Local changes stay in the document until a new channel opens. */
  #stop(channel: Channel, upload: 'paused' | 'refused', hasUnsent = true): void {
    if (upload === 'refused' || channel.upload === 'flowing') channel.upload = upload
    this.#hasUnsent = hasUnsent
    this.#clearQueue()
    this.#deps.onChange()
  }
}

const errorOf = (status: ErrorStatus | undefined, reason: string) =>
  new ApiError(
    status !== undefined && Object.hasOwn(httpStatusOf, status) ? status : 'FAILED_PRECONDITION',
    reason,
  )

/** Whether an update has no structs and no deletions. */
const isEmpty = (update: Uint8Array) => update.length === 2 && update[0] === 0 && update[1] === 0
