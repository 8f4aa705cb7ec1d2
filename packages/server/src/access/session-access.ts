import type { ApiKey } from '../store/api-keys.ts'
import type { Db } from '../store/engine/db.ts'
import { type Decision, decide, limit, mergeGrants } from './permissions.ts'
import { loadOpenedDocument, type Overlay } from './subjects.ts'
import type { TokenGrant } from './tokens/token-claims.ts'

/** Who opens a document: a user with the grants of the token, or a backend with the credentials of the API key. */
export type SessionUser =
  | {
      userId: string
      resources: readonly TokenGrant[]
      /** Only the documents among the resources, with at most their role. */
      isLimited?: boolean
    }
  | 'server'

/**
 * What each of these sessions may do with the document, in at most four queries for all of them. A decision holds until
 * its `expiresAt`, unless an operation changes what it was made of; that the token itself ends is not part of it.
 */
export async function evaluate(
  db: Db,
  key: Pick<ApiKey, 'apiKey' | 'options'>,
  organizationId: string,
  documentId: string,
  users: readonly SessionUser[],
  nowSeconds: number,
): Promise<Decision[]> {
  const userIds = new Set(users.flatMap((user) => (user === 'server' ? [] : user.userId)))
  const opened = await loadOpenedDocument(db, key, organizationId, documentId, [...userIds])
  return users.map((user) => {
    if (user === 'server') return decide(opened.subject('', asEditor), nowSeconds)
    const removedAt = opened.removedAt(user.userId)
    // Who was removed from the organization has nothing left in it from older tokens.
    const here = user.resources.filter(
      (grant) => grant.organizationId === organizationId && grant.issuedAt > removedAt,
    )
    const decision = decide(opened.subject(user.userId, withToken(here, nowSeconds)), nowSeconds)
    if (!user.isLimited) return decision
    return limit(
      decision,
      here.find(({ type, id }) => type === 'document' && id === documentId),
      nowSeconds,
    )
  })
}

/** Every access type lets in whoever has a grant on the document itself. */
const asEditor: Overlay = (type) => (type === 'document' ? { accessRole: 'editor' } : undefined)

const withToken =
  (grants: readonly TokenGrant[], nowSeconds: number): Overlay =>
  (type, id, stored) => {
    const granted = grants.find((grant) => grant.type === type && grant.id === id)
    return mergeGrants(stored, granted, nowSeconds)
  }
