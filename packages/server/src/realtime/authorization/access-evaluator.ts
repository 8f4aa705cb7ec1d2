import type { Credentials } from '../../access/credentials/credentials.ts'
import type { LargeDeletions } from '../../deletions/large-deletions.ts'
import type { Decision } from '../../access/permissions.ts'
import { evaluateAccess } from '../../access/sessions/session-access.ts'
import type { ApiKeyOptions } from '../../store/api-keys.ts'
import { ensureDocument } from '../../access/sessions/sign-in.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Signals } from '../../peers/signals.ts'
import type { Limiter } from '../../platform/turns/limiter.ts'
import type { Database, Db } from '../../store/engine/db.ts'
import type { DocumentRef } from '../../store/refs.ts'
import type { PermissionProvider, ProviderAnswers } from '../../access/provider/permission-provider.ts'
import type { AccessDecision, AuthorizedClient, EvaluatedDocument, PendingDecision } from './authorizer.ts'
import type { CreationLimits, OpeningRefusal } from './creation-limits.ts'

export interface AccessEvaluatorDeps {
  database: Database
  credentials: Credentials
  deletions: LargeDeletions
  creationLimits: CreationLimits
  permissionProvider: PermissionProvider
  signals: Pick<Signals, 'store' | 'publish'>
  /** Limits client-triggered queries, fairly per user. */
  gate: Limiter
  clock: Clock
}

/** Reads from the database what clients may do with a document. Creates the document if a client opens a new one. */
export class AccessEvaluator {
  readonly #deps: AccessEvaluatorDeps

  constructor(deps: AccessEvaluatorDeps) {
    this.#deps = deps
  }

  /** Resolves with one decision per client, in their order. See `AuthorizerDeps`. */
  async evaluate(
    document: EvaluatedDocument,
    clients: readonly AuthorizedClient[],
  ): Promise<(AccessDecision | PendingDecision)[]> {
    const { gate, deletions } = this.#deps
    const { apiKey } = document
    const lane = laneOf(clients)
    for (let hasWaited = false; ;) {
      const evaluated = await gate.run(apiKey, () => this.#evaluate(document, clients), lane)
      // Outside of the gate: a deletion and the permission provider may take seconds, and other clients must not wait.
      if (evaluated === 'being deleted') {
        await deletions.waitWhileAffected(apiKey, mentionOf(document))
        continue
      }
      const { decisions, answers } = evaluated
      const unanswered = answers?.unansweredUserIds
      const isUnanswered = ({ identity }: AuthorizedClient, index: number) =>
        isDeniedByProvider(decisions[index]) && unanswered?.has(identity.userId) === true
      if (!answers || !clients.some(isUnanswered)) return decisions
      const answered = answers.ask()
      // The provider has logged the failure. Clients that wait for the answer are closed by the authorizer.
      const settled = answered.catch(() => {})
      const isOpen = ({ role }: AuthorizedClient) => role !== undefined
      if (!hasWaited && clients.some((client, index) => isOpen(client) && isUnanswered(client, index))) {
        await this.#waitForRenewal(settled)
        hasWaited = true
        continue
      }
      return clients.map((client, index) => {
        if (!isUnanswered(client, index)) return decisions[index] as AccessDecision
        return isOpen(client) ? notAnswered : { answered }
      })
    }
  }

  /** Waits for the permission provider, but not so long that clients keep a role that has ended (spec R9). */
  async #waitForRenewal(settled: Promise<void>): Promise<void> {
    let stopTimer = () => {}
    const timeout = new Promise<void>((resolve) => {
      stopTimer = this.#deps.clock.setTimeout(resolve, renewalTimeoutMs)
    })
    await Promise.race([settled, timeout])
    stopTimer()
  }

  async #evaluate(
    document: EvaluatedDocument,
    clients: readonly AuthorizedClient[],
  ): Promise<Evaluated | 'being deleted'> {
    const { database, credentials, deletions, creationLimits, permissionProvider, signals, clock } =
      this.#deps
    const { apiKey, organizationId, documentId } = document
    const known = await credentials.apiKey(apiKey)
    if (!known) return { decisions: clients.map(() => notAccepted) }
    if (deletions.mayAffect(known.caller) && (await deletions.affects(apiKey, mentionOf(document)))) {
      return 'being deleted'
    }
    const users = clients.map(({ identity }) => identity.access)
    const seconds = Math.floor(clock.now() / 1000)
    const answers = permissionProvider.answersFor(known.caller)
    const decisions: AccessDecision[] = await evaluateAccess(
      database.read,
      known.caller,
      organizationId,
      documentId,
      users,
      seconds,
      answers,
    )
    for (const [index, { identity }] of clients.entries()) {
      if (identity.isAccepted?.(known.tokens) === false) decisions[index] = notAccepted
    }
    const evaluated = { decisions, answers }
    if (document.exists) return evaluated
    // A client that opens a missing document creates it (spec 0.8). A client that left, for example because the document
    // was deleted, does not.
    const openers = clients.filter((client, index) => decisions[index]?.allowed && !client.hasLeft)
    if (openers.length === 0) return evaluated
    const refusals = clients.map((client, index) =>
      whyNotCreated(client, decisions[index], known.caller.options),
    )
    const creators = openers.filter((client) => refusals[clients.indexOf(client)] === undefined)
    const refuse = async () =>
      creators.length > 0 ? creationLimits.take(creators.map(({ identity }) => identity)) : doesNotExist
    const now = clock.now()
    const messages = [{ kind: 'documents' as const, apiKey, organizationId, documentIds: [documentId] }]
    const created = {
      store: (db: Db) => signals.store(db, messages),
      publish: () => signals.publish(messages),
    }
    const refusal = await ensureDocument(
      database,
      known.caller,
      organizationId,
      documentId,
      now,
      refuse,
      created,
    )
    if (refusal) {
      const refused = decisions.map((one, index) => (one.allowed ? (refusals[index] ?? refusal) : one))
      return { decisions: refused, answers }
    }
    document.exists = true
    return evaluated
  }
}

const isDeniedByProvider = (decision: AccessDecision | undefined) =>
  decision !== undefined && 'reason' in decision && decision.reason === 'provider_denied'

interface Evaluated {
  decisions: AccessDecision[]
  /** Undefined: the API key does not use a permission provider. */
  answers?: ProviderAnswers | undefined
}

/**
 * How long the renewal of an open client's role waits for the permission provider. A sweep notices the end of the role
 * within 500 ms, and after one second the client must have lost it.
 */
const renewalTimeoutMs = 400

/**
 * The lane of the gate in which these clients wait: the user of the first client. Clients that have the document open wait
 * in another lane, so that they do not queue behind clients that open it.
 */
function laneOf(clients: readonly AuthorizedClient[]): string {
  const userId = clients[0]?.identity.userId ?? ''
  return clients.some(({ role }) => role !== undefined) ? `again ${userId}` : userId
}

const missing = (message: string): OpeningRefusal => ({ allowed: false, closeReason: 'gone', message })

const doesNotExist = missing('The document does not exist.')
const notByViewers = missing('The document does not exist, and a viewer cannot create it.')
const onlyByBackends = missing(
  'The document does not exist. Clients cannot create it: documentCreation of the API key is backends.',
)

/** Why the client does not create the document by opening it (spec 0.8.2). Undefined: it does. */
function whyNotCreated(
  { identity, mayCreate }: AuthorizedClient,
  decision: AccessDecision | undefined,
  { documentCreation }: Pick<ApiKeyOptions, 'documentCreation'>,
): OpeningRefusal | undefined {
  if (!mayCreate) return doesNotExist
  if (identity.access === 'backend') return undefined
  if (!decision?.allowed || decision.accessRole === 'viewer') return notByViewers
  return documentCreation === 'backends' ? onlyByBackends : undefined
}

/** Clients reconnect after it, and then wait for the answer. */
const notAnswered: OpeningRefusal = {
  allowed: false,
  closeReason: 'unavailable',
  message: 'The permission provider did not answer in time. Connect again.',
}

const notAccepted: Decision = { allowed: false, reason: 'unauthenticated', accessType: 'restricted' }

const mentionOf = ({ organizationId, documentId }: DocumentRef) => ({
  isLive: true as const,
  organizationIds: [organizationId],
  documentIds: [documentId],
  folderIds: [],
})
