import type { ApiKey } from '../../store/api-keys.ts'
import type { Db } from '../../store/engine/db.ts'
import type { DocumentRef } from '../../store/refs.ts'
import type { Visible } from '../../store/comments/audience.ts'
import * as memberships from '../../store/access/memberships.ts'
import { createVisible } from '../viewers.ts'
import { type Decision, decide, limit, mergeGrants, type Subject } from '../permissions.ts'
import type { ProviderAnswers } from '../provider/permission-provider.ts'
import { loadOpenedDocuments, type OpenedDocument, type Overlay } from '../subjects.ts'
import type { TokenGrant } from '../tokens/token-claims.ts'

/** Who opens a document: a user with the grants of the token, or a backend with the credentials of the API key. */
export type SessionUser = UserSession | 'backend'

export interface UserSession {
  userId: string
  resources: readonly TokenGrant[]
  /** Whether the token opens only the documents in its resources, with at most the role that it names there. */
  isLimited?: boolean | undefined
}

type Key = Pick<ApiKey, 'apiKey' | 'options'>

/**
 * Decides what each session may do with the document, in at most four queries for up to 5,000 users. A decision is valid
 * until its `expiresAt`, unless an operation changes access before. It does not include the expiry of the token itself.
 * With `answers`, the permission provider decides about users. A user whose answer is not known is denied.
 */
export async function evaluateAccess(
  db: Db,
  key: Key,
  organizationId: string,
  documentId: string,
  users: readonly SessionUser[],
  nowSeconds: number,
  answers?: ProviderAnswers,
): Promise<Decision[]> {
  const userIds = new Set(users.flatMap((user) => (user === 'backend' ? [] : user.userId)))
  const documents = await loadOpenedDocuments(db, key, organizationId, [documentId], [...userIds])
  const opened = documents(documentId)
  const document = { organizationId, documentId }
  return users.map((user) =>
    user === 'backend'
      ? decide(opened.subject('', asEditor), nowSeconds)
      : decideFor(opened, document, user, nowSeconds, answers).decision,
  )
}

/** What a session may do with a document, and the grants of the session there. */
export interface SessionAccess {
  decision: Decision
  overlay: Overlay
}

/** What one user may do with a document. */
export async function evaluateSession(
  db: Db,
  key: Key,
  { organizationId, documentId }: DocumentRef,
  user: UserSession,
  nowSeconds: number,
  answers?: ProviderAnswers,
): Promise<SessionAccess> {
  const all = await evaluateDocuments(db, key, organizationId, [documentId], user, nowSeconds, answers)
  return all(documentId)
}

/** What one user may do with each of at most 500 documents, in as many queries as for one. */
export async function evaluateDocuments(
  db: Db,
  key: Key,
  organizationId: string,
  documentIds: readonly string[],
  user: UserSession,
  nowSeconds: number,
  answers?: ProviderAnswers,
): Promise<(documentId: string) => SessionAccess> {
  const opened = await loadOpenedDocuments(db, key, organizationId, documentIds, [user.userId])
  return (documentId) =>
    decideFor(opened(documentId), { organizationId, documentId }, user, nowSeconds, answers)
}

function decideFor(
  opened: OpenedDocument,
  document: DocumentRef,
  user: UserSession,
  nowSeconds: number,
  answers: ProviderAnswers | undefined,
): SessionAccess {
  const { organizationId, documentId } = document
  const { userId, isLimited } = user
  const here = grantsIn(organizationId, user, opened.removedAt(userId))
  const overlay = withToken(here, nowSeconds)
  const provider = answers && findAnswer(answers, opened, document, userId, nowSeconds)
  const decision = decide({ ...opened.subject(userId, overlay), ...provider }, nowSeconds)
  if (!isLimited) return { decision, overlay }
  const granted = here.find(({ type, id }) => type === 'document' && id === documentId)
  return { decision: limit(decision, granted, nowSeconds), overlay }
}

/** The grants of the token in the organization. Tokens from before the user was removed from it grant nothing there. */
const grantsIn = (organizationId: string, { resources }: UserSession, removedAt: number): TokenGrant[] =>
  resources.filter((grant) => grant.organizationId === organizationId && grant.issuedAt > removedAt)

function findAnswer(
  answers: ProviderAnswers,
  opened: OpenedDocument,
  { organizationId, documentId }: DocumentRef,
  userId: string,
  nowSeconds: number,
): Pick<Subject, 'provider'> {
  const known = answers.find({
    userId,
    organizationId,
    type: 'document',
    id: documentId,
    source: 'setDocuments',
    parentFolderId: opened.folderId,
  })
  if (!known?.answer) return { provider: { answer: undefined } }
  // Deciding again when the answer is to be renewed makes the server ask for the next one.
  const expiresAt = nowSeconds < known.renewAt ? known.renewAt : known.endsAt
  return { provider: { answer: { ...known.answer, expiresAt } } }
}

/**
 * What a user of an open document may see in it. Memberships and access fields of the token count as for access to
 * documents, except those of before the user was removed from the organization.
 */
export function createSessionVisible(
  db: Db,
  apiKey: string,
  organizationId: string,
  user: UserSession,
  now: number,
): Visible {
  const { userId } = user
  return async (audiences) => {
    const removedAt = await memberships.findRemovedAt(db, apiKey, userId, organizationId)
    const overlay = withToken(grantsIn(organizationId, user, removedAt), now / 1000)
    return createVisible(db, { apiKey, organizationId, userId, now, overlay })(audiences)
  }
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
