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

/** Whose access may have changed: of users, or in documents or organizations, that the input names, or everybody's. */
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
