import type { Operation } from '@plenum/protocol'
import type { AccessScope } from '../bus.ts'

/** The fields in which inputs of operations name users, documents and organizations. */
interface NamingFields {
  userId?: string
  user?: { userId?: string }
  userIds?: readonly string[]
  users?: readonly { userId: string }[]
  documentIds?: readonly string[]
  documents?: readonly { documentId: string }[]
  organizationId?: string
  organizationIds?: readonly string[]
}

/** Returns whose access an operation may have changed, by its declaration and the ids in its input. */
export function accessScope(changed: NonNullable<Operation['changesAccess']>, input: unknown): AccessScope {
  const { userId, user, userIds, users, documentIds, documents, organizationId, organizationIds } =
    input as NamingFields
  const inOrganizations = organizationIds ?? defined([organizationId])
  switch (changed) {
    case 'users':
      return { userIds: userIds ?? users?.map((one) => one.userId) ?? defined([userId, user?.userId]) }
    case 'documents':
      return {
        organizationIds: inOrganizations,
        documentIds: documentIds ?? documents?.map((one) => one.documentId),
      }
    case 'organizations':
      return { organizationIds: inOrganizations }
    case 'everybody':
      return {}
  }
}

const defined = (ids: readonly (string | undefined)[]) => ids.filter((id) => id !== undefined)
