import { hash } from 'node:crypto'

/** What the permission provider is asked: whether the user may open the resource. */
export interface Question {
  userId: string
  organizationId: string
  type: 'organization' | 'folder' | 'document'
  id: string
  /** Why the server asks. The answer does not depend on it. */
  source: 'identify' | 'setDocuments' | 'setNotifications'
  /** The folder of a document. Null or absent: the document is in no folder. */
  parentFolderId?: string | null
}

/** Equal for two questions that have the same answer. A hash, because ids are long and many answers are remembered. */
export const questionKey = ({
  userId,
  organizationId,
  type,
  id,
}: Pick<Question, 'userId' | 'organizationId' | 'id'> & { type: string }): string =>
  hash('sha256', JSON.stringify([userId, organizationId, type, id]), 'base64')

/** The body of the request to the provider (spec 7.8). */
export const requestBody = (questions: readonly Question[]): string =>
  JSON.stringify({
    data: {
      requests: questions.map(({ userId, id, type, source, organizationId, parentFolderId }) => ({
        userId,
        resource: {
          id,
          type,
          source,
          organizationId,
          ...(type === 'document' && parentFolderId != null && { parentFolderId }),
        },
      })),
    },
  })
