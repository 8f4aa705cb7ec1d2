import { ApiError, type ErrorStatus } from '@plenum/protocol'
import type { CloseReason } from '@plenum/protocol/realtime'
import { newId } from '../../access/ids.ts'
import type { Fault } from '../../crdt/updates/fault.ts'
import { BytePace } from '../../platform/turns/byte-pace.ts'
import type { EditorRef } from '../../store/refs.ts'
import type { Identity } from '../authorization/identity.ts'
import type { ParticipantListener, Participant } from '../documents/participant.ts'
import type { Member } from '../rooms/member.ts'
import { missingUpdate, readOnly } from '../rooms/refusals.ts'
import type { EditorRoom } from '../rooms/room.ts'
import { statusOfFault } from './fault-status.ts'
import type { RealtimeServices } from './realtime-services.ts'

/**
 * Stores an update of a REST request in a document that exists, under the rules for updates of clients. Resolves when the
 * update is durable. Throws an `ApiError`.
 */
export async function storeUpdate(
  services: Pick<RealtimeServices, 'documents' | 'scheduler'>,
  identity: Identity,
  ref: EditorRef,
  update: Uint8Array,
): Promise<void> {
  const request = new RequestMember(services, identity, ref)
  try {
    await Promise.race([request.failure, request.store(update)])
  } finally {
    request.leave()
  }
}

const noBytes = Buffer.alloc(0)

type State = { name: 'opening' } | { name: 'open'; room: EditorRoom } | { name: 'left' }

/** Takes part in an editor like a client, for the time of one request. It is sent nothing. */
class RequestMember implements Member, ParticipantListener {
  readonly mayCreate = false
  readonly isPresent = false
  readonly codec = { key: 'request', update: () => noBytes, awareness: () => noBytes }
  readonly sessionId = newId('req')
  readonly openedAt = 0
  readonly pace = new BytePace(1)
  /** Rejects when the request has failed. Never resolves. */
  readonly failure: Promise<never>
  #fail: (error: ApiError) => void = () => {}
  readonly #opened: Promise<void>
  #onOpened: () => void = () => {}
  readonly #services: Pick<RealtimeServices, 'documents' | 'scheduler'>
  readonly #ref: EditorRef
  readonly #participant: Participant
  #state: State = { name: 'opening' }

  constructor(
    services: Pick<RealtimeServices, 'documents' | 'scheduler'>,
    identity: Identity,
    ref: EditorRef,
  ) {
    this.#services = services
    this.#ref = ref
    this.failure = new Promise((_resolve, reject) => (this.#fail = reject))
    this.#opened = new Promise((resolve) => (this.#onOpened = resolve))
    const host = { scheduler: services.scheduler, owner: identity, hold() {}, release() {} }
    this.#participant = services.documents.join(host, identity, ref, this)
    this.#participant.start()
  }

  async store(update: Uint8Array): Promise<void> {
    await this.#opened
    const room = await this.#participant.document.openRoom(this.#ref.editorId).catch((cause: unknown) => {
      throw new ApiError('INTERNAL', 'The stored CRDT data cannot be read.', { cause })
    })
    if (room.isDropped) throw failureOfClose('restarting', 'The document is being reloaded.')
    if (this.#state.name === 'left') return
    this.#state = { name: 'open', room }
    // As a member, it learns when the room is dropped.
    room.members.add(this)
    await new Promise<void>((saved, reject) => {
      const refused = (fault: Fault) => reject(failureOfFault(fault))
      const submit = () =>
        this.#participant.run(() => {
          if (this.canWriteNow) room.submit(this, update, { saved: () => saved(), refused })
          else refused(readOnly)
        })
      this.#services.scheduler.scheduleOnce(this.#participant.identity, submit).catch(reject)
    })
  }

  leave(): void {
    if (this.#state.name === 'open') this.#state.room.leave(this)
    this.#state = { name: 'left' }
    this.#participant.leave()
  }

  onOpened(): void {
    this.#onOpened()
  }

  onRoleChanged(): void {}

  onClosed(reason: CloseReason, message: string): void {
    this.close(reason, message)
  }

  close(reason: CloseReason, message: string): void {
    this.#fail(failureOfClose(reason, message))
  }

  /** The update depends on an update that is not stored, and a request cannot be asked for that update. */
  requestMissingUpdates(): void {
    this.#fail(failureOfFault(missingUpdate))
  }

  get userId(): string {
    return this.#participant.identity.userId
  }

  get email(): string | undefined {
    return this.#participant.identity.email
  }

  get hasWriteRole(): boolean {
    return this.#participant.hasWriteRole
  }

  /** False after the response: a refused update that waits for another update must not be stored later. */
  get canWriteNow(): boolean {
    return this.#state.name !== 'left' && this.#participant.hasWriteRole
  }

  get mayStore(): boolean | undefined {
    return this.#participant.mayStore
  }

  whenDecided(): Promise<void> {
    return this.#participant.whenDecided()
  }

  send(): void {}

  sendLater(): void {}

  sendAwareness(): boolean {
    return true
  }

  resendSkipped(): boolean {
    return false
  }

  onWriteAllowed(): void {}

  tryReserve(): boolean {
    return true
  }
}

const statusOfClose: Partial<Record<CloseReason, ErrorStatus>> = {
  restarting: 'UNAVAILABLE',
  unavailable: 'UNAVAILABLE',
  rateLimited: 'RESOURCE_EXHAUSTED',
  tooMany: 'RESOURCE_EXHAUSTED',
  unauthenticated: 'UNAUTHENTICATED',
  permissionDenied: 'PERMISSION_DENIED',
  gone: 'NOT_FOUND',
}

function failureOfClose(reason: CloseReason, message: string): ApiError {
  const status = statusOfClose[reason] ?? 'INVALID_ARGUMENT'
  return new ApiError(status, message, status === 'UNAVAILABLE' ? { retryAfterSeconds: 1 } : {})
}

const failureOfFault = (fault: Fault) => new ApiError(statusOfFault(fault, 'INVALID_ARGUMENT'), fault.message)
