import type { ApiKey } from '../../store/api-keys.ts'
import type { Db } from '../../store/engine/db.ts'
import { type Decision, decide, limit, mergeGrants, type Subject } from '../permissions.ts'
import type { ProviderAnswers } from '../provider/permission-provider.ts'
import { loadOpenedDocument, type Overlay } from '../subjects.ts'
import type { TokenGrant } from '../tokens/token-claims.ts'

/** Who opens a document: a user with the grants of the token, or a backend with the credentials of the API key. */
export type SessionUser =
  | {
      userId: string
      resources: readonly TokenGrant[]
      /** Whether the token opens only the documents in its resources, with at most the role that it names there. */
      isLimited?: boolean
    }
  | 'backend'

/**
 * Decides what each session may do with the document, in at most four queries for up to 5,000 users. A decision is valid
 * until its `expiresAt`, unless an operation changes access before. It does not include the expiry of the token itself.
 * With `answers`, the permission provider decides about users. A user whose answer is not known is denied.
 */
export async function evaluateAccess(
  db: Db,
  key: Pick<ApiKey, 'apiKey' | 'options'>,
  organizationId: string,
  documentId: string,
  users: readonly SessionUser[],
  nowSeconds: number,
  answers?: ProviderAnswers,
): Promise<Decision[]> {
  const userIds = new Set(users.flatMap((user) => (user === 'backend' ? [] : user.userId)))
  const opened = await loadOpenedDocument(db, key, organizationId, documentId, [...userIds])
  const providerFor = (userId: string): Pick<Subject, 'provider'> => {
    if (!answers) return {}
    const source = 'setDocuments'
    const parentFolderId = opened.folderId
    const known = answers.find({
      userId,
      organizationId,
      type: 'document',
      id: documentId,
      source,
      parentFolderId,
    })
    if (!known?.answer) return { provider: { answer: undefined } }
    // Deciding again when the answer is to be renewed makes the server ask for the next one.
    const expiresAt = nowSeconds < known.renewAt ? known.renewAt : known.endsAt
    return { provider: { answer: { ...known.answer, expiresAt } } }
  }
  return users.map((user) => {
    if (user === 'backend') return decide(opened.subject('', asEditor), nowSeconds)
    const removedAt = opened.removedAt(user.userId)
    // Tokens from before the user was removed from the organization grant nothing in it.
    const here = user.resources.filter(
      (grant) => grant.organizationId === organizationId && grant.issuedAt > removedAt,
    )
    const subject = opened.subject(user.userId, withToken(here, nowSeconds))
    const decision = decide({ ...subject, ...providerFor(user.userId) }, nowSeconds)
    if (!user.isLimited) return decision
    return limit(
      decision,
      here.find(({ type, id }) => type === 'document' && id === documentId),
      nowSeconds,
    )
  })
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
