import { LazyMap, LazySet } from '../../platform/lazy-collections.ts'
import type { AccessRole, CloseReason } from '@plenum/protocol/realtime'
import type { Decision } from '../../access/permissions.ts'
import type { Clock } from '../../platform/clock.ts'
import type { DocumentRef } from '../../store/refs.ts'
import type { OpeningRefusal } from './creation-limits.ts'
import type { Identity } from './identity.ts'

/** What a client may do with a document, or why the client cannot open it. */
export type AccessDecision = Decision | OpeningRefusal

/** The decision needs an answer of the permission provider. */
export interface PendingDecision {
  /** Evaluate again when it resolves. Rejects if the provider could not be asked. */
  answered: Promise<void>
}

interface Pending {
  /** The version of the client before its access was read. */
  accessVersion: number
  /** Resolves when the client is evaluated again, or closed. */
  ended: Promise<void>
}

/** A client whose access to a document is checked. */
export interface AuthorizedClient {
  readonly identity: Identity
  /** The role of the latest decision. Undefined before the first decision. */
  readonly role: AccessRole | undefined
  readonly hasLeft: boolean
  /** Whether the client may create the document by opening it. */
  readonly mayCreate: boolean
  /** Increases with every change that makes earlier decisions about this client stale. */
  readonly accessVersion: number
  /** Whether the latest decision still applies: it is not stale, and its time is not over. */
  isCurrent(now: number): boolean
  /** `accessVersion`: the version of the client before its access was read. */
  onDecision(decision: AccessDecision, accessVersion: number, now: number): void
  close(reason: CloseReason, message: string): void
}

/** A document as the evaluator sees it. */
export interface EvaluatedDocument extends DocumentRef {
  readonly apiKey: string
  /** Whether the document is known to be stored. */
  exists: boolean
}

export interface AuthorizerDeps {
  clock: Clock
  /** Resolves with one decision per client, in their order. Only that of a client without a role can be pending. */
  evaluate: (
    document: EvaluatedDocument,
    clients: readonly AuthorizedClient[],
  ) => Promise<(AccessDecision | PendingDecision)[]>
  onError: (error: unknown) => void
}

/** A check that fails is retried. After the last attempt the clients are closed. */
const maxAttempts = 5
const retryMs = 200

/** Keeps the decisions about the clients of one open document current. */
export class Authorizer {
  readonly #deps: AuthorizerDeps
  readonly #document: EvaluatedDocument
  /** The clients that have the document open. */
  readonly #clients: ReadonlySet<AuthorizedClient>
  /** Clients for which `decide` was called. They may have left the document. */
  readonly #undecided = new LazySet<AuthorizedClient>()
  /** Clients whose decision is pending. Other clients do not wait for it. */
  readonly #pending = new LazyMap<AuthorizedClient, Pending>()
  #running: Promise<void> | undefined

  constructor(
    deps: AuthorizerDeps,
    { apiKey, organizationId, documentId }: DocumentRef & { apiKey: string },
    clients: ReadonlySet<AuthorizedClient>,
  ) {
    this.#deps = deps
    this.#document = { apiKey, organizationId, documentId, exists: false }
    this.#clients = clients
  }

  /** Decides again about every client whose decision is stale, until all decisions are current. */
  authorize(): Promise<void> {
    this.#running ??= this.#authorizeAll()
    return this.#running
  }

  /** Resolves when the decision about the client is current, or the client is closed. The client may have left before. */
  async decide(client: AuthorizedClient): Promise<void> {
    this.#undecided.add(client)
    for (;;) {
      await this.authorize()
      if (!this.#undecided.has(client)) return
      await this.#pending.get(client)?.ended
    }
  }

  async #authorizeAll(): Promise<void> {
    const { clock, evaluate, onError } = this.#deps
    for (let failures = 0; ;) {
      // Waits until the caller is done, so that clients that join together are checked together.
      await Promise.resolve()
      const clients = new Set([...this.#clients, ...this.#undecided])
      const stale = [...clients].filter(
        (client) => !client.isCurrent(clock.now()) && !this.#isPending(client),
      )
      if (stale.length === 0) return this.#finish()
      const versions = stale.map(({ accessVersion }) => accessVersion)
      try {
        const decisions = await evaluate(this.#document, stale)
        for (const [index, client] of stale.entries()) {
          const decision = decisions[index] as AccessDecision | PendingDecision
          const accessVersion = versions[index] as number
          this.#pending.delete(client)
          if ('answered' in decision) {
            this.#wait(client, accessVersion, decision)
          } else {
            this.#undecided.delete(client)
            client.onDecision(decision, accessVersion, clock.now())
          }
        }
      } catch (error) {
        onError(error)
        if (++failures === maxAttempts) {
          for (const client of stale) this.#closeUnchecked(client)
          return this.#finish()
        }
        await new Promise<void>((resolve) => clock.setTimeout(resolve, retryMs))
      }
    }
  }

  /** Call it right before the end of `#authorizeAll`: a call of `authorize` after that needs another run. */
  #finish(): void {
    const pending = [...this.#undecided].filter((client) => this.#isPending(client))
    this.#undecided.clear()
    for (const client of pending) this.#undecided.add(client)
    this.#running = undefined
  }

  /** Whether the client's decision is pending. A change of access is evaluated at once: it may make the answer needless. */
  #isPending(client: AuthorizedClient): boolean {
    return this.#pending.get(client)?.accessVersion === client.accessVersion
  }

  #wait(client: AuthorizedClient, accessVersion: number, { answered }: PendingDecision): void {
    const onEnd = () => {
      if (this.#pending.get(client) === pending) this.#pending.delete(client)
    }
    const ended = answered.then(
      () => {
        onEnd()
        return this.authorize()
      },
      (error: unknown) => {
        onEnd()
        this.#deps.onError(error)
        this.#closeUnchecked(client)
      },
    )
    const pending = { accessVersion, ended }
    this.#pending.set(client, pending)
  }

  #closeUnchecked(client: AuthorizedClient): void {
    this.#undecided.delete(client)
    client.close('unavailable', 'Access could not be checked.')
  }
}
