import type { ApiKey } from '../../store/api-keys.ts'
import type { Db } from '../../store/engine/db.ts'
import type { DocumentRef } from '../../store/refs.ts'
import { type Decision, decide, limit, mergeGrants, type Subject } from '../permissions.ts'
import { loadOpenedDocument, type Overlay } from '../subjects.ts'
import type { TokenGrant } from '../tokens/token-claims.ts'

/** Who opens a document: a user with the grants of the token, or a backend with the credentials of the API key. */
export type SessionUser =
  | {
      userId: string
      resources: readonly TokenGrant[]
      /** Whether the token opens only the documents in its resources, with at most the role that it names there. */
      isLimited?: boolean | undefined
    }
  | 'backend'

/**
 * Decides what each session may do with the document, in at most four queries for up to 5,000 users. A decision is valid
 * until its `expiresAt`, unless an operation changes access before. It does not include the expiry of the token itself.
 */
export async function evaluateAccess(
  db: Db,
  key: Pick<ApiKey, 'apiKey' | 'options'>,
  organizationId: string,
  documentId: string,
  users: readonly SessionUser[],
  nowSeconds: number,
): Promise<Decision[]> {
  const userIds = new Set(users.flatMap((user) => (user === 'backend' ? [] : user.userId)))
  const opened = await loadOpenedDocument(db, key, organizationId, documentId, [...userIds])
  return users.map((user) => {
    if (user === 'backend') return decide(opened.subject('', asEditor), nowSeconds)
    const here = grantsHere(user, organizationId, opened.removedAt(user.userId))
    const subject = opened.subject(user.userId, withToken(here, nowSeconds))
    return decideFor(user, here, documentId, subject, nowSeconds)
  })
}

/** What one user may do with a document, and the grants of the session there. */
export async function evaluateSession(
  db: Db,
  key: Pick<ApiKey, 'apiKey' | 'options'>,
  { organizationId, documentId }: DocumentRef,
  user: Exclude<SessionUser, 'backend'>,
  nowSeconds: number,
): Promise<{ decision: Decision; overlay: Overlay }> {
  const opened = await loadOpenedDocument(db, key, organizationId, documentId, [user.userId])
  const here = grantsHere(user, organizationId, opened.removedAt(user.userId))
  const overlay = withToken(here, nowSeconds)
  return {
    decision: decideFor(user, here, documentId, opened.subject(user.userId, overlay), nowSeconds),
    overlay,
  }
}

/** The grants of the token in the organization. Tokens from before the user was removed from it grant nothing there. */
const grantsHere = (
  { resources }: Exclude<SessionUser, 'backend'>,
  organizationId: string,
  removedAt: number,
): TokenGrant[] =>
  resources.filter((grant) => grant.organizationId === organizationId && grant.issuedAt > removedAt)

function decideFor(
  { isLimited }: Exclude<SessionUser, 'backend'>,
  here: readonly TokenGrant[],
  documentId: string,
  subject: Subject,
  nowSeconds: number,
): Decision {
  const decision = decide(subject, nowSeconds)
  if (!isLimited) return decision
  const granted = here.find(({ type, id }) => type === 'document' && id === documentId)
  return limit(decision, granted, nowSeconds)
}

/** For a backend: a grant on the document itself gives access under every access type. */
const asEditor: Overlay = (type) => (type === 'document' ? { accessRole: 'editor' } : undefined)

/** For a user: the stored grants, merged with the grants in the token. */
const withToken =
  (grants: readonly TokenGrant[], nowSeconds: number): Overlay =>
  (type, id, stored) => {
    const granted = grants.find((grant) => grant.type === type && grant.id === id)
    return mergeGrants(stored, granted, nowSeconds)
  }
