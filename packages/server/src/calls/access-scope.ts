import type { Operation } from '@plenum/protocol'
import type { AccessScope } from '../platform/bus.ts'

/** What inputs call the users, documents and organizations that they name. */
interface Named {
  userId?: string
  user?: { userId?: string }
  userIds?: readonly string[]
  users?: readonly { userId: string }[]
  documentIds?: readonly string[]
  documents?: readonly { documentId: string }[]
  organizationId?: string
  organizationIds?: readonly string[]
}

/** Whose access an operation may have changed, by what its input names. */
export function accessScope(of: NonNullable<Operation['changesAccess']>, input: unknown): AccessScope {
  const { userId, user, userIds, users, documentIds, documents, organizationId, organizationIds } =
    input as Named
  const inOrganizations = organizationIds ?? given([organizationId])
  switch (of) {
    case 'users':
      return { userIds: userIds ?? users?.map((one) => one.userId) ?? given([userId, user?.userId]) }
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

const given = (ids: readonly (string | undefined)[]) => ids.filter((id) => id !== undefined)
