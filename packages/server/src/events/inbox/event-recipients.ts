import type { PermissionProvider } from '../../access/provider/permission-provider.ts'
import { findViewers } from '../../access/viewers.ts'
import type { ApiKey } from '../../store/api-keys.ts'
import type { StoredAnnotation } from '../../store/comments/annotation.ts'
import * as comments from '../../store/comments/comments.ts'
import * as views from '../../store/comments/views.ts'
import type { Database } from '../../store/engine/db.ts'
import type { PendingNotification } from '../../store/notifications/pending.ts'
import type { NewRecipient } from '../../store/notifications/recipients.ts'
import { findRecipients, type RecipientSearch } from './recipients.ts'

export interface RecipientDeps {
  database: Pick<Database, 'read'>
  permissionProvider: PermissionProvider
}

/** What says who is notified of an event. */
type NotifiedEvent = Pick<PendingNotification, 'organizationId' | 'documentId' | 'actorId' | 'seq'>

/** The users who are notified (spec 18.7), in slices. */
export async function* recipientsOf(
  { database: { read: db }, permissionProvider }: RecipientDeps,
  key: ApiKey,
  { organizationId, documentId, actorId, seq }: NotifiedEvent,
  annotation: StoredAnnotation,
  { channel, now }: { channel: 'inbox' | 'email'; now: number },
): AsyncGenerator<NewRecipient[]> {
  const { apiKey } = key
  const users = await comments.findUsers(db, apiKey, organizationId, annotation)
  const unwilling = new Set(
    users.flatMap(({ userId, involvement }) => (involvement === 'unsubscribed' ? userId : [])),
  )
  if (actorId !== null) unwilling.add(actorId)
  const { authorId, assigneeId, audience } = annotation
  const involved = new Set([authorId, ...(assigneeId === null ? [] : [assigneeId])])
  for (const { userId } of users) involved.add(userId)
  const accept = async (among: readonly NewRecipient[]) => {
    const userIds = among.flatMap(({ userId }) => userId ?? []).filter((userId) => !unwilling.has(userId))
    const isViewer = await findViewers(db, { apiKey, organizationId, now }, audience, userIds)
    const seen = await views.findSeen(db, apiKey, organizationId, annotation, userIds, seq)
    const accepted = new Set(userIds.filter((userId) => isViewer(userId) && !seen.has(userId)))
    return among.filter(({ userId }) => userId !== null && accepted.has(userId))
  }
  const check: RecipientSearch['check'] = async (work) => {
    const result = await permissionProvider.check(key, work)
    // Without the answer of the provider, users would be left out forever. The job runs again after the restart.
    if (permissionProvider.isStopped) throw new Error('The server stops.')
    return result
  }
  yield* findRecipients(
    { db, caller: key, now, check, accept, channel },
    {
      organizationId,
      documentId,
      notifyUsers: [...involved].filter((userId) => !unwilling.has(userId)).map((userId) => ({ userId })),
      notifyAll: true,
      verifyUserPermissions: true,
    },
  )
}
