import { ApiError, type ErrorStatus } from '@plenum/protocol'
import type { CloseReason } from '@plenum/protocol/realtime'
import { newId } from '../../access/ids.ts'
import type { Place } from '../../store/editors/editors.ts'
import { BytePace } from '../../platform/turns/byte-pace.ts'
import { type Member, readOnly } from '../rooms/member.ts'
import type { EditorRoom } from '../rooms/room.ts'
import { statusOfFault } from './fault-status.ts'
import type { Hub } from '../documents/hub.ts'
import type { Identity } from '../authorization/identify.ts'
import type { Listener, Participant } from '../documents/participant.ts'
import { whenItsTurn } from '../../platform/turns/step-taker.ts'
import type { Fault } from '../../crdt/updates/validate-update.ts'

/**
 * Stores an update that came in a request, under the rules for updates of clients, in a document that exists. Resolves when
 * it is durable. Throws an `ApiError`.
 */
export async function storeUpdate(
  hub: Hub,
  identity: Identity,
  place: Place,
  update: Uint8Array,
): Promise<void> {
  const request = new RequestMember(hub, identity, place)
  try {
    await Promise.race([request.failure, request.store(update)])
  } finally {
    request.leave()
  }
}

const nothing = Buffer.alloc(0)

/** A client for the time of one request. It hears nothing of what others do. */
class RequestMember implements Member, Listener {
  readonly mayCreate = false
  readonly isPresent = false
  readonly framing = { key: 'request', update: () => nothing, awareness: () => nothing }
  readonly sessionId = newId('req')
  readonly pace = new BytePace(1)
  /** Rejects when the request cannot be served any more. */
  readonly failure: Promise<never>
  #fail: (error: ApiError) => void = () => {}
  readonly #opened: Promise<void>
  #open: () => void = () => {}
  readonly #hub: Hub
  readonly #place: Place
  readonly #participant: Participant
  #room: EditorRoom | undefined
  #hasLeft = false

  constructor(hub: Hub, identity: Identity, place: Place) {
    this.#hub = hub
    this.#place = place
    this.failure = new Promise((_resolve, reject) => (this.#fail = reject))
    this.#opened = new Promise((resolve) => (this.#open = resolve))
    const host = { turns: hub.turns, owner: identity, hold() {}, release() {} }
    this.#participant = hub.join(host, identity, place, this)
  }

  async store(update: Uint8Array): Promise<void> {
    await this.#opened
    const room = await this.#participant.document.editor(this.#place.editorId).catch((cause: unknown) => {
      throw new ApiError('INTERNAL', 'The stored CRDT data cannot be read.', { cause })
    })
    if (room.isDropped) throw failureOfEnd('restarting', 'The document is loaded anew.')
    this.#room = room
    // Those who wait in it hear when it is dropped.
    room.members.add(this)
    await new Promise<void>((saved, reject) => {
      const refused = (fault: Fault) => reject(failureOfFault(fault))
      const submit = () =>
        this.#participant.run(() => {
          if (this.canWrite) room.submit(this, update, { saved: () => saved(), refused })
          else refused(readOnly)
        })
      whenItsTurn(this.#hub.turns, this.#participant.identity, submit).catch(reject)
    })
  }

  leave(): void {
    this.#hasLeft = true
    this.#room?.members.delete(this)
    this.#participant.leave()
  }

  opened(): void {
    this.#open()
  }

  changed(): void {}

  ended(reason: CloseReason, message: string): void {
    this.end(reason, message)
  }

  end(reason: CloseReason, message: string): void {
    this.#fail(failureOfEnd(reason, message))
  }

  /** The update builds upon something that is not stored. There is nobody to ask for it. */
  askForMore(): void {
    this.#fail(failureOfFault({ code: 'gap', message: 'The update builds upon one that is not stored.' }))
  }

  get userId(): string {
    return this.#participant.identity.userId
  }

  get email(): string | undefined {
    return this.#participant.identity.email
  }

  get isWriter(): boolean {
    return this.#participant.canWrite
  }

  /** Not after the answer: a refused update that waits for another one must not be stored later. */
  get canWrite(): boolean {
    return !this.#hasLeft && this.#participant.canWrite
  }

  get mayStore(): boolean | undefined {
    return this.#participant.mayStore
  }

  decided(): Promise<void> {
    return this.#participant.decided()
  }

  send(): void {}

  sendAwareness(): boolean {
    return true
  }

  makeUp(): void {}

  mayWrite(): void {}

  keep(): boolean {
    return true
  }
}

const statusOfEnd: Partial<Record<CloseReason, ErrorStatus>> = {
  restarting: 'UNAVAILABLE',
  unavailable: 'UNAVAILABLE',
  rateLimited: 'RESOURCE_EXHAUSTED',
  tooMany: 'RESOURCE_EXHAUSTED',
  unauthenticated: 'UNAUTHENTICATED',
  permissionDenied: 'PERMISSION_DENIED',
  gone: 'NOT_FOUND',
}

function failureOfEnd(reason: CloseReason, message: string): ApiError {
  const status = statusOfEnd[reason] ?? 'INVALID_ARGUMENT'
  return new ApiError(status, message, status === 'UNAVAILABLE' ? { retryAfterSeconds: 1 } : {})
}

const failureOfFault = (fault: Fault) => new ApiError(statusOfFault(fault, 'INVALID_ARGUMENT'), fault.message)
