import type { AccessRole, CloseReason } from '@plenum/protocol/realtime'
import type { Decision } from '../../access/permissions.ts'
import type { CreationRefusal } from '../authorization/creation-limits.ts'
import type { Identity } from '../authorization/identify.ts'
import type { OpenDocument } from './open-document.ts'
import { type WorkHost, WorkQueue } from '../../platform/turns/work-queue.ts'

/** What a dialect wants to hear about its client's place in a document. */
export interface Listener {
  /** The document is open, with that role. */
  opened(role: AccessRole): void
  /** The role changed while it was open. */
  changed(role: AccessRole): void
  /** The token is about to end. */
  expiring?(): void
  /** It is closed for this client; called once. */
  ended(reason: CloseReason, message: string): void
  /** Called every now and then: sends what was left out while the client was behind. */
  makeUp?(): void
  /** The client says itself when its user is idle. */
  readonly tellsIdleness?: boolean
  /** False: the document is opened only if it exists. */
  readonly mayCreate?: boolean
  /** False: a single request, whose user is not shown as present. */
  readonly isPresent?: boolean
}

/** What a client may do with a document, or why it cannot be created for the client. */
export type Verdict = Decision | CreationRefusal

/** One client in one document. What it sends counts only under a judgement that is current. */
export class Participant {
  readonly document: OpenDocument
  identity: Identity
  readonly #listener: Listener
  #role: AccessRole | undefined
  #judgedAt = -1
  #changes = 0
  /** Epoch milliseconds: time alone may change the judgement then. */
  #validUntil = 0
  readonly #inbox: WorkQueue
  #ended = false
  #lostAccess = false
  #wasWarned = false

  constructor(host: WorkHost, identity: Identity, document: OpenDocument, listener: Listener) {
    this.identity = identity
    this.document = document
    this.#listener = listener
    this.#inbox = new WorkQueue(host, {
      mayRun: () => this.isCurrent(document.now()),
      onBlocked: () => void document.judge(),
      onError: () => this.end('badMessage', 'The message is malformed.'),
    })
  }

  get hasEnded(): boolean {
    return this.#ended
  }

  get role(): AccessRole | undefined {
    return this.#role
  }

  get canWrite(): boolean {
    return this.#role === 'editor'
  }

  /** Counts what can change the judgement: of the user, of the document, and of this participant alone. */
  get epoch(): number {
    return this.document.epochOf(this.identity.userId) + this.#changes
  }

  /** Whether the judgement still holds at this moment. */
  isCurrent(now: number): boolean {
    return this.#judgedAt === this.epoch && now < this.#validUntil
  }

  /** Whether what it sent may be stored at this moment, also after it left; undefined until `decided`. */
  get mayStore(): boolean | undefined {
    if (this.#lostAccess) return false
    return this.isCurrent(this.document.now()) ? this.canWrite : undefined
  }

  /** Resolves when it is known again whether it may write. */
  decided(): Promise<void> {
    return this.document.decide(this)
  }

  /** The user may do more or less than before. */
  judgeAgain(): void {
    this.#changes++
    void this.document.judge()
  }

  /** Whether something that it sent waits for a judgement. */
  get hasWork(): boolean {
    return this.#inbox.length > 0
  }

  /** Does it now, or as soon as the judgement is current; never, if that ends the session. */
  run(work: () => void): void {
    if (this.#ended) return
    if (this.#inbox.length === 0 && this.isCurrent(this.document.now())) return work()
    this.#inbox.push(work)
    if (!this.isCurrent(this.document.now())) void this.document.judge()
  }

  /** `epoch`: that of the participant when it was judged. */
  judged(decision: Verdict, epoch: number, now: number): void {
    if (now >= this.identity.expiresAt * 1000)
      return this.end('unauthenticated', 'token_expired: The token has expired.')
    if ('closeReason' in decision) return this.end(decision.closeReason, decision.message)
    if (!decision.allowed) {
      const isUnknown = decision.reason === 'unauthenticated'
      return this.end(isUnknown ? 'unauthenticated' : 'permissionDenied', denials[decision.reason])
    }
    this.#judgedAt = epoch
    this.#validUntil = Math.min(decision.expiresAt ?? Infinity, this.identity.expiresAt) * 1000
    const before = this.#role
    this.#role = decision.accessRole
    if (this.#ended) return
    if (before === undefined) {
      if (this.#listener.isPresent !== false) this.document.entered(this)
      this.#listener.opened(this.#role)
    } else if (before !== this.#role) this.#listener.changed(this.#role)
    this.#inbox.start()
  }

  /** A fresh token of the same user. */
  renew(identity: Identity): void {
    if (this.#ended) return
    const { apiKey, userId } = this.identity
    if (identity.apiKey !== apiKey || identity.userId !== userId) {
      return this.end('unauthenticated', 'token_invalid: The token is that of another user.')
    }
    // Who has no later token is not asked again and again.
    if (identity.expiresAt > this.identity.expiresAt) this.#wasWarned = false
    this.identity = identity
    this.document.presence.renewed(this)
    this.judgeAgain()
  }

  /** Whether the client says itself when its user is idle. */
  get tellsIdleness(): boolean {
    return this.#listener.tellsIdleness === true
  }

  /** A limited token is for documents that exist. */
  get mayCreate(): boolean {
    const { access } = this.identity
    const isLimited = access !== 'server' && access.isLimited
    return this.#listener.mayCreate !== false && !isLimited
  }

  makeUp(): void {
    this.#listener.makeUp?.()
  }

  /** Asks for a fresh token in time; called every now and then. */
  warn(now: number): void {
    if (this.#wasWarned || this.identity.expiresAt * 1000 - now > warnMs) return
    this.#wasWarned = true
    this.#listener.expiring?.()
  }

  end(reason: CloseReason, message: string): void {
    // Somebody who left by itself, or sent something malformed, may still have been allowed to write what came before.
    if (isLossOfAccess(reason)) this.#lostAccess = true
    if (this.#ended) return
    this.leave()
    this.#listener.ended(reason, message)
  }

  /** Gone by itself: nobody is to be told. */
  leave(): void {
    if (this.#ended) return
    this.#ended = true
    this.#inbox.clear()
    this.document.leave(this)
  }
}

/** Ends for another reason than that the user may not be here. */
const harmlessReasons: readonly CloseReason[] = ['badMessage', 'invalidUpdate', 'slow', 'restarting']
const isLossOfAccess = (reason: CloseReason) => !harmlessReasons.includes(reason)

/** Clients are asked for a fresh token so long before theirs ends. */
const warnMs = 60_000

const denials: Record<Extract<Decision, { allowed: false }>['reason'], string> = {
  unauthenticated: 'token_invalid: The token is not accepted any more.',
  disabled: 'The document or its organization is disabled.',
  provider_denied: 'The permission provider denies access.',
  no_grant: 'The user may not open this document.',
}
