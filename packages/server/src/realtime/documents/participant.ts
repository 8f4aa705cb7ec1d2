import type { AccessRole, CloseReason } from '@plenum/protocol/realtime'
import type { Decision } from '../../access/permissions.ts'
import { type WorkHost, WorkQueue, type WorkQueueOwner } from '../../platform/turns/work-queue.ts'
import type { AccessDecision } from '../authorization/authorizer.ts'
import type { Sender } from '../authorization/commits.ts'
import type { Identity } from '../authorization/identity.ts'
import type { DocumentMember, OpenDocument } from './open-document.ts'

/** Is called when a client's access to one document changes. */
export interface ParticipantListener {
  /** The document is open for the client, with this role. */
  onOpened(role: AccessRole): void
  /** The role changed while the document was open. */
  onRoleChanged(role: AccessRole): void
  /** The token expires soon. */
  onTokenExpiring?(): void
  /** The document is closed for this client; called once. */
  onClosed(reason: CloseReason, message: string): void
  /**
   * Called when the document is swept: twice a second, less often while it is quiet. Sends what was skipped while the client
   * was behind. Returns whether something still waits.
   */
  resendSkipped?(): boolean
  /** Whether the client reports by itself when its user is idle. Default: false. */
  readonly reportsIdleness?: boolean
  /** Whether the client creates the document if it does not exist. Default: true. */
  readonly mayCreate?: boolean
  /** Whether the user is shown as present. Default: true. False for a single request. */
  readonly isPresent?: boolean
}

/** The latest decision that allowed access. */
interface Grant {
  role: AccessRole
  /** The participant's access version before its access was read. The grant is stale when the version has changed. */
  accessVersion: number
  /** Unix milliseconds: from then on, time alone may change the decision. */
  validUntil: number
}

type State =
  /** There is no decision yet. */
  | { name: 'authorizing' }
  | { name: 'open'; grant: Grant }
  /** The client left. Its earlier messages may still be stored under a current grant. */
  | { name: 'left'; grant: Grant | undefined }
  /** The client was closed for a reason that is not in `harmlessReasons`. None of its messages are stored any more. */
  | { name: 'revoked'; grant: Grant | undefined }

/** One client in one document. Its messages are handled only under a current decision about its access. */
export class Participant implements DocumentMember, Sender, WorkQueueOwner {
  readonly document: OpenDocument
  identity: Identity
  readonly #listener: ParticipantListener
  #state: State = { name: 'authorizing' }
  /** Counts the changes of access that concern this participant alone. */
  #ownAccessChanges = 0
  /** Messages that wait for a current decision. */
  readonly #inbox: WorkQueue
  /** Whether the listener was warned that the token expires soon. */
  #wasWarned = false

  constructor(host: WorkHost, identity: Identity, document: OpenDocument, listener: ParticipantListener) {
    this.identity = identity
    this.document = document
    this.#listener = listener
    this.#inbox = new WorkQueue(host, this)
  }

  /** Starts the first authorization. The listener must be able to handle its callbacks from here on. */
  start(): void {
    void this.document.authorize()
  }

  mayRun(): boolean {
    return this.isCurrent()
  }

  onBlocked(): void {
    void this.document.authorize()
  }

  onError(): void {
    this.close('badMessage', 'The message is malformed.')
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

  /** Whether the latest decision allows writing, even if that decision is stale. */
  get hasWriteRole(): boolean {
    return this.role === 'editor'
  }

  get accessVersion(): number {
    return this.document.accessVersionOf(this.identity.userId) + this.#ownAccessChanges
  }

  /** Whether the latest decision still applies: it is not stale, and its time is not over. */
  isCurrent(now = this.document.clock.now()): boolean {
    const grant = this.#grant
    return grant !== undefined && grant.accessVersion === this.accessVersion && now < grant.validUntil
  }

  /** Whether the participant's messages may be stored, even after it left. Undefined while no decision is current. */
  get mayStore(): boolean | undefined {
    if (this.#state.name === 'revoked') return false
    return this.isCurrent() ? this.hasWriteRole : undefined
  }

  whenDecided(): Promise<void> {
    return this.document.decide(this)
  }

  /** Makes the latest decision stale, and authorizes the client again. */
  invalidateAccess(): void {
    this.#ownAccessChanges++
    void this.document.authorize()
  }

  /** Whether messages wait for a current decision. */
  get hasWaitingMessages(): boolean {
    return this.#inbox.length > 0
  }

  /** Runs the work now, or as soon as the decision is current. If the document closes first, the work never runs. */
  run(work: () => void): void {
    if (this.hasLeft) return
    this.document.onActivity()
    if (this.#inbox.length === 0 && this.isCurrent()) return work()
    this.#inbox.push(work)
    if (!this.isCurrent()) void this.document.authorize()
  }

  onDecision(decision: AccessDecision, accessVersion: number, now: number): void {
    if (now >= this.identity.expiresAt * 1000)
      return this.close('unauthenticated', 'token_expired: The token has expired.')
    if ('closeReason' in decision) return this.close(decision.closeReason, decision.message)
    if (!decision.allowed) {
      const isUnknown = decision.reason === 'unauthenticated'
      return this.close(isUnknown ? 'unauthenticated' : 'permissionDenied', denials[decision.reason])
    }
    const validUntil = Math.min(decision.expiresAt ?? Infinity, this.identity.expiresAt) * 1000
    this.#onGranted({ role: decision.accessRole, accessVersion, validUntil })
  }

  #onGranted(grant: Grant): void {
    this.document.onActivity()
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

  /** Replaces the identity by that of a newer token. Closes the document if the token belongs to another user. */
  renew(identity: Identity): void {
    if (this.hasLeft) return
    const { apiKey, userId } = this.identity
    if (identity.apiKey !== apiKey || identity.userId !== userId) {
      return this.close('unauthenticated', 'token_invalid: The token is that of another user.')
    }
    // A client that sends a token without a later expiry is not asked for another token again.
    if (identity.expiresAt > this.identity.expiresAt) this.#wasWarned = false
    this.identity = identity
    this.document.onActivity()
    this.document.presence.identityChanged(this)
    this.invalidateAccess()
  }

  /** Whether the client reports by itself when its user is idle. */
  get reportsIdleness(): boolean {
    return this.#listener.reportsIdleness === true
  }

  /** A client with a limited token opens only documents that exist. */
  get mayCreate(): boolean {
    const { access } = this.identity
    const isLimited = access !== 'backend' && access.isLimited
    return this.#listener.mayCreate !== false && !isLimited
  }

  sweep(now: number): number {
    const warnAt = this.identity.expiresAt * 1000 - expiryWarningMs
    if (!this.#wasWarned && now >= warnAt) {
      this.#wasWarned = true
      this.#listener.onTokenExpiring?.()
    }
    if (this.#listener.resendSkipped?.()) return now
    return Math.min(this.#grant?.validUntil ?? now, this.#wasWarned ? Infinity : warnAt)
  }

  /** Closes the document for the client, with a reason. */
  close(reason: CloseReason, message: string): void {
    const isFirst = !this.hasLeft
    // A client that left by itself or sent a malformed message has not lost access. What it sent before may be stored.
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

/** Close reasons after which the client's earlier messages may still be stored. */
const harmlessReasons: readonly CloseReason[] = ['badMessage', 'invalidUpdate', 'slow', 'restarting']
const isLossOfAccess = (reason: CloseReason) => !harmlessReasons.includes(reason)

/** Clients are asked for a new token this long before their token expires. */
const expiryWarningMs = 60_000

const denials: Record<Extract<Decision, { allowed: false }>['reason'], string> = {
  unauthenticated: 'token_invalid: The token is not accepted any more.',
  disabled: 'The document or its organization is disabled.',
  provider_denied: 'The permission provider denies access.',
  no_grant: 'The user may not open this document.',
}
