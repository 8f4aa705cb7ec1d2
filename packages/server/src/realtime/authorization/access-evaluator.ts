import type { Credentials } from '../../access/credentials/credentials.ts'
import type { LargeDeletions } from '../../deletions/large-deletions.ts'
import type { Decision } from '../../access/permissions.ts'
import { evaluateAccess } from '../../access/sessions/session-access.ts'
import { ensureDocument } from '../../access/sessions/sign-in.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Limiter } from '../../platform/turns/limiter.ts'
import type { Database } from '../../store/engine/db.ts'
import type { DocumentRef } from '../../store/refs.ts'
import type { AccessDecision, AuthorizedClient, EvaluatedDocument } from './authorizer.ts'
import type { CreationLimits, CreationRefusal } from './creation-limits.ts'

export interface AccessEvaluatorDeps {
  database: Database
  credentials: Credentials
  deletions: LargeDeletions
  creationLimits: CreationLimits
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

  /** Resolves with one decision per client, in their order. */
  async evaluate(
    document: EvaluatedDocument,
    clients: readonly AuthorizedClient[],
  ): Promise<AccessDecision[]> {
    const { gate, deletions } = this.#deps
    const lane = laneOf(clients)
    for (;;) {
      const decisions = await gate.run(document.apiKey, () => this.#evaluate(document, clients), lane)
      if (decisions !== 'being deleted') return decisions
      // Outside of the gate: a deletion may take seconds, and other clients must not wait for it.
      await deletions.waitWhileAffected(document.apiKey, mentionOf(document))
    }
  }

  async #evaluate(
    document: EvaluatedDocument,
    clients: readonly AuthorizedClient[],
  ): Promise<AccessDecision[] | 'being deleted'> {
    const { database, credentials, deletions, creationLimits, clock } = this.#deps
    const { apiKey, organizationId, documentId } = document
    const known = await credentials.apiKey(apiKey)
    if (!known) return clients.map(() => notAccepted)
    if (deletions.mayAffect(known.caller) && (await deletions.affects(apiKey, mentionOf(document)))) {
      return 'being deleted'
    }
    const users = clients.map(({ identity }) => identity.access)
    const seconds = Math.floor(clock.now() / 1000)
    const decisions = await evaluateAccess(
      database.read,
      known.caller,
      organizationId,
      documentId,
      users,
      seconds,
    )
    for (const [index, { identity }] of clients.entries()) {
      if (identity.isAccepted?.(known.tokens) === false) decisions[index] = notAccepted
    }
    if (document.exists) return decisions
    // A client that opens a missing document creates it (spec 0.8). A client that left, for example because the document
    // was deleted, does not.
    const openers = clients.filter((client, index) => decisions[index]?.allowed && !client.hasLeft)
    if (openers.length === 0) return decisions
    const creators = openers.flatMap((client) => (client.mayCreate ? client.identity : []))
    const refuse = async () => (creators.length > 0 ? creationLimits.take(creators) : doesNotExist)
    const now = clock.now()
    const refusal = await ensureDocument(database, known.caller, organizationId, documentId, now, refuse)
    if (refusal) return decisions.map((decision) => (decision.allowed ? refusal : decision))
    document.exists = true
    return decisions
  }
}

/**
 * The lane of the gate in which these clients wait: the user of the first client. Clients that have the document open wait
 * in another lane, so that they do not queue behind clients that open it.
 */
function laneOf(clients: readonly AuthorizedClient[]): string {
  const userId = clients[0]?.identity.userId ?? ''
  return clients.some(({ role }) => role !== undefined) ? `again ${userId}` : userId
}

const doesNotExist: CreationRefusal = {
  allowed: false,
  closeReason: 'gone',
  message: 'The document does not exist.',
}

const notAccepted: Decision = { allowed: false, reason: 'unauthenticated', accessType: 'restricted' }

const mentionOf = ({ organizationId, documentId }: DocumentRef) => ({
  isLive: true as const,
  organizationIds: [organizationId],
  documentIds: [documentId],
  folderIds: [],
})
