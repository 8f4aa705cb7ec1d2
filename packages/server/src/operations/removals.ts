import type { Input, Operations } from '@plenum/protocol'
import type { Scope } from '../store/deletions/deletions.ts'
import { unique } from './batches.ts'
import { levelOf } from './levels.ts'

type Of<Family extends 'organizations' | 'folders' | 'documents' | 'users' | 'notifications'> = Input<
  Operations[Family]['delete']
>

/** What the operations take away that may be too much for their transaction, by name. */
export const removals: Readonly<
  Record<string, ((input: never, now: number) => Scope | undefined) | undefined>
> = {
  'organizations.delete': ({ organizationIds }: Of<'organizations'>) => ({
    organizationIds: unique(organizationIds),
  }),
  'folders.delete': ({ organizationId, folderId }: Of<'folders'>) => ({ organizationId, folderId }),
  'documents.delete': ({ organizationId, documentIds }: Of<'documents'>) => ({
    organizationId,
    documentIds: unique(documentIds),
  }),
  'users.delete': (input: Of<'users'>, now: number) => {
    const { type, organizationId } = levelOf(input)
    // Elsewhere a user has one grant.
    if (type !== 'organization') return undefined
    return { organizationId, userIds: unique(input.userIds), atSeconds: Math.floor(now / 1000) }
  },
  'userGroups.deleteUsers': (input: Input<Operations['userGroups']['deleteUsers']>) =>
    input.deleteAll === true && input.userIds === undefined
      ? { organizationId: input.organizationId, groupId: input.organizationUserGroupId }
      : undefined,
  // What is named is hidden if it is large.
  'notifications.delete': (input: Of<'notifications'>) => {
    const { organizationId, documentId, locationId, userId, notificationIds } = input
    if (notificationIds !== undefined) return undefined
    const there = locationId === undefined ? {} : { locationId: String(locationId) }
    if (userId !== undefined) {
      const inDocument = documentId === undefined ? {} : { documentId }
      return { organizationId, inboxOf: { userId, ...inDocument, ...there } }
    }
    return documentId === undefined
      ? undefined
      : { organizationId, notificationsOf: { documentId, ...there } }
  },
}
