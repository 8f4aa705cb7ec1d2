import type { AccessRole, CloseReason } from '@plenum/protocol/realtime'
import type { Decision } from '../../access/permissions.ts'
import { type WorkHost, WorkQueue } from '../../platform/turns/work-queue.ts'
import type { AccessDecision } from '../authorization/authorizer.ts'
import type { Sender } from '../authorization/commits.ts'
import type { Identity } from '../authorization/identify.ts'
import type { DocumentMember, OpenDocument } from './open-document.ts'

/** Receives what happens to a client's access to one document. */
export interface ParticipantListener {
  /** The document is open, with that role. */
  onOpened(role: AccessRole): void
  /** The role changed while the document was open. */
  onRoleChanged(role: AccessRole): void
  /** The token expires soon. */
  onTokenExpiring?(): void
  /** The document is closed for this client; called once. */
  onClosed(reason: CloseReason, message: string): void
  /** Called at every sweep: sends what was skipped while the client was behind. */
  resendSkipped?(): void
  /** The client reports by itself when its user is idle. */
  readonly reportsIdleness?: boolean
  /** False: the document is opened only if it exists. */
  readonly mayCreate?: boolean
  /** False: a single request, whose user is not shown as present. */
  readonly isPresent?: boolean
}

/** The latest decision that allowed access. */
interface Grant {
  role: AccessRole
  /** The epoch of the participant when it was authorized. */
  epoch: number
  /** Unix milliseconds: from then on, time alone may change the decision. */
  validUntil: number
}

type State =
  /** There was no decision yet. */
  | { name: 'authorizing' }
  | { name: 'open'; grant: Grant }
  /** The client left. What it sent before may still be stored under a current grant. */
  | { name: 'left'; grant: Grant | undefined }
  /** The client was closed because it may not use the document. Nothing it sent is stored any more. */
  | { name: 'revoked'; grant: Grant | undefined }

/** One client in one document. Its messages are handled only under a current decision about its access. */
export class Participant implements DocumentMember, Sender {
  readonly document: OpenDocument
  identity: Identity
  readonly #listener: ParticipantListener
  #state: State = { name: 'authorizing' }
  /** Changes that concern this participant alone. */
  #changes = 0
  /** Messages that wait for a current decision. */
  readonly #inbox: WorkQueue
  #wasWarned = false

  constructor(host: WorkHost, identity: Identity, document: OpenDocument, listener: ParticipantListener) {
    this.identity = identity
    this.document = document
    this.#listener = listener
    this.#inbox = new WorkQueue(host, {
      mayRun: () => this.isCurrent(),
      onBlocked: () => void document.authorize(),
      onError: () => this.close('badMessage', 'The message is malformed.'),
    })
  }

  /** Starts the first authorization. The listener must be able to handle its callbacks from here on. */
  start(): void {
    void this.document.authorize()
  }

  get hasLeft(): boolean {
    return this.#state.name === 'left' || this.#state.name === 'revoked'
  }

  get #grant(): Grant | undefined {
    return this.#state.name === 'authorizing' ? undefined : this.#state.grant
  }

  get role(): AccessRole | undefined {
    return this.#grant?.role
  }

  get canWrite(): boolean {
    return this.role === 'editor'
  }

  get epoch(): number {
    return this.document.epochOf(this.identity.userId) + this.#changes
  }

  /** Whether the latest decision applies at this moment. */
  isCurrent(now = this.document.clock.now()): boolean {
    const grant = this.#grant
    return grant !== undefined && grant.epoch === this.epoch && now < grant.validUntil
  }

  get mayStore(): boolean | undefined {
    if (this.#state.name === 'revoked') return false
    return this.isCurrent() ? this.canWrite : undefined
  }

  whenDecided(): Promise<void> {
    return this.document.decide(this)
  }

  /** Makes the latest decision stale, and authorizes the client again. */
  invalidateAccess(): void {
    this.#changes++
    void this.document.authorize()
  }

  /** Whether messages wait for a current decision. */
  get hasWaitingMessages(): boolean {
    return this.#inbox.length > 0
  }

  /** Does the work now, or as soon as the decision is current. Never, if the decision closes the document. */
  run(work: () => void): void {
    if (this.hasLeft) return
    if (this.#inbox.length === 0 && this.isCurrent()) return work()
    this.#inbox.push(work)
    if (!this.isCurrent()) void this.document.authorize()
  }

  onDecision(decision: AccessDecision, epoch: number, now: number): void {
    if (now >= this.identity.expiresAt * 1000)
      return this.close('unauthenticated', 'token_expired: The token has expired.')
    if ('closeReason' in decision) return this.close(decision.closeReason, decision.message)
    if (!decision.allowed) {
      const isUnknown = decision.reason === 'unauthenticated'
      return this.close(isUnknown ? 'unauthenticated' : 'permissionDenied', denials[decision.reason])
    }
    const validUntil = Math.min(decision.expiresAt ?? Infinity, this.identity.expiresAt) * 1000
    this.#onGranted({ role: decision.accessRole, epoch, validUntil })
  }

  #onGranted(grant: Grant): void {
    const before = this.#state
    switch (before.name) {
      case 'authorizing':
        this.#state = { name: 'open', grant }
        if (this.#listener.isPresent !== false) this.document.enter(this)
        this.#listener.onOpened(grant.role)
        break
      case 'open':
        this.#state = { name: 'open', grant }
        if (before.grant.role !== grant.role) this.#listener.onRoleChanged(grant.role)
        break
      case 'left':
        this.#state = { name: 'left', grant }
        return
      case 'revoked':
        return
    }
    this.#inbox.start()
  }

  /** Replaces the token by a newer one of the same user. */
  renew(identity: Identity): void {
    if (this.hasLeft) return
    const { apiKey, userId } = this.identity
    if (identity.apiKey !== apiKey || identity.userId !== userId) {
      return this.close('unauthenticated', 'token_invalid: The token is that of another user.')
    }
    // A client that has no later token is not asked for one again and again.
    if (identity.expiresAt > this.identity.expiresAt) this.#wasWarned = false
    this.identity = identity
    this.document.presence.identityChanged(this)
    this.invalidateAccess()
  }

  /** Whether the client reports by itself when its user is idle. */
  get reportsIdleness(): boolean {
    return this.#listener.reportsIdleness === true
  }

  /** A limited token is for documents that exist. */
  get mayCreate(): boolean {
    const { access } = this.identity
    const isLimited = access !== 'backend' && access.isLimited
    return this.#listener.mayCreate !== false && !isLimited
  }

  sweep(now: number): void {
    if (!this.#wasWarned && this.identity.expiresAt * 1000 - now <= expiryWarningMs) {
      this.#wasWarned = true
      this.#listener.onTokenExpiring?.()
    }
    this.#listener.resendSkipped?.()
  }

  /** Closes the document for the client, with a reason. */
  close(reason: CloseReason, message: string): void {
    const isFirst = !this.hasLeft
    // A client that left by itself, or sent a malformed message, was still allowed to write what it sent before.
    const name = isLossOfAccess(reason) ? 'revoked' : 'left'
    if (isFirst || name === 'revoked') this.#state = { name, grant: this.#grant }
    if (!isFirst) return
    this.#release()
    this.#listener.onClosed(reason, message)
  }

  /** The client left by itself: the listener is not called. */
  leave(): void {
    if (this.hasLeft) return
    this.#state = { name: 'left', grant: this.#grant }
    this.#release()
  }

  #release(): void {
    this.#inbox.clear()
    this.document.leave(this)
  }
}

/** Reasons that leave the user's access as it was. */
const harmlessReasons: readonly CloseReason[] = ['badMessage', 'invalidUpdate', 'slow', 'restarting']
const isLossOfAccess = (reason: CloseReason) => !harmlessReasons.includes(reason)

/** Clients are asked for a new token this long before theirs expires. */
const expiryWarningMs = 60_000

const denials: Record<Extract<Decision, { allowed: false }>['reason'], string> = {
  unauthenticated: 'token_invalid: The token is not accepted any more.',
  disabled: 'The document or its organization is disabled.',
  provider_denied: 'The permission provider denies access.',
  no_grant: 'The user may not open this document.',
}
