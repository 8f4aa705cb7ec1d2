import type { PermissionProvider, ProviderAnswers } from '../../access/provider/permission-provider.ts'
import { findViewers } from '../../access/viewers.ts'
import { findHolders } from '../../store/access/memberships.ts'
import type { ApiKey } from '../../store/api-keys.ts'
import type { StoredAnnotation } from '../../store/comments/annotation.ts'
import * as comments from '../../store/comments/comments.ts'
import * as views from '../../store/comments/views.ts'
import type { Database, Db } from '../../store/engine/db.ts'
import type { PendingNotification } from '../../store/notifications/pending.ts'
import type { NewRecipient } from '../../store/notifications/recipients.ts'
import { filterRecipients, findRecipients, type RecipientSearch } from './recipients.ts'

export interface RecipientDeps {
  database: Pick<Database, 'read'>
  permissionProvider: PermissionProvider
}

/** What says who is notified of an event. */
type NotifiedEvent = Pick<PendingNotification, 'organizationId' | 'documentId' | 'actorId' | 'seq'>

/** The users who are notified (spec 18.7), in slices. */
export async function* recipientsOf(
  deps: RecipientDeps,
  key: ApiKey,
  event: NotifiedEvent,
  annotation: StoredAnnotation,
  { channel, now }: { channel: 'inbox' | 'email'; now: number },
): AsyncGenerator<NewRecipient[]> {
  const { search, involved } = await searchFor(deps, key, event, annotation, { channel, now })
  const notifyUsers = [...involved].map((userId) => ({ userId }))
  yield* findRecipients(search, { ...selectionOf(event), notifyUsers })
}

/** The permission provider gave no answer, so it is not known whether a user may be notified. */
export class ProviderSilent extends Error {
  override name = 'ProviderSilent'
  override message = 'The permission provider gave no answer.'
}

/** Whether `recipientsOf` yields this user now. Throws `ProviderSilent`. */
export async function isRecipient(
  deps: RecipientDeps,
  key: ApiKey,
  event: NotifiedEvent,
  annotation: StoredAnnotation,
  { channel, now, userId }: { channel: 'inbox' | 'email'; now: number; userId: string },
): Promise<boolean> {
  const { organizationId } = event
  let isSilent = false
  const onAnswers = (answers: ProviderAnswers | undefined) => (isSilent = answers?.isSilent === true)
  const { search, involved } = await searchFor(deps, key, event, annotation, { channel, now, onAnswers })
  const named = involved.has(userId)
  if (!named && !(await isMember(search.db, key.apiKey, organizationId, userId, now))) return false
  const among = [{ userId, email: null, named }]
  const isFound = (await filterRecipients(search, selectionOf(event), among)).length > 0
  if (!isFound && isSilent) throw new ProviderSilent()
  return isFound
}

const selectionOf = ({ organizationId, documentId }: NotifiedEvent) => ({
  organizationId,
  documentId,
  notifyUsers: [],
  notifyAll: true,
  verifyUserPermissions: true,
})

async function isMember(db: Db, apiKey: string, organizationId: string, userId: string, now: number) {
  const organization = { type: 'organization', ids: [organizationId] } as const
  const nowSeconds = Math.floor(now / 1000)
  return (await findHolders(db, apiKey, organizationId, organization, [userId], nowSeconds)).length > 0
}

interface SearchOptions {
  channel: 'inbox' | 'email'
  now: number
  /** Gets the answers of the permission provider with which it was decided. */
  onAnswers?: (answers: ProviderAnswers | undefined) => void
}

/** How the recipients are found, and the users who follow the annotation and want to be notified. */
async function searchFor(
  { database: { read: db }, permissionProvider }: RecipientDeps,
  key: ApiKey,
  { organizationId, actorId, seq }: NotifiedEvent,
  annotation: StoredAnnotation,
  { channel, now, onAnswers }: SearchOptions,
): Promise<{ search: RecipientSearch; involved: ReadonlySet<string> }> {
  const { apiKey } = key
  const users = await comments.findUsers(db, apiKey, organizationId, annotation)
  const unwilling = new Set(
    users.flatMap(({ userId, involvement }) => (involvement === 'unsubscribed' ? userId : [])),
  )
  if (actorId !== null) unwilling.add(actorId)
  const { authorId, assigneeId, audience } = annotation
  const involved = new Set([authorId, ...(assigneeId === null ? [] : [assigneeId])])
  for (const { userId } of users) involved.add(userId)
  for (const userId of unwilling) involved.delete(userId)
  const accept = async (among: readonly NewRecipient[]) => {
    const userIds = among.flatMap(({ userId }) => userId ?? []).filter((userId) => !unwilling.has(userId))
    const isViewer = await findViewers(db, { apiKey, organizationId, now }, audience, userIds)
    const seen = await views.findSeen(db, apiKey, organizationId, annotation, userIds, seq)
    const accepted = new Set(userIds.filter((userId) => isViewer(userId) && !seen.has(userId)))
    return among.filter(({ userId }) => userId !== null && accepted.has(userId))
  }
  const check: RecipientSearch['check'] = async (work) => {
    const result = await permissionProvider.check(key, async (answers) => {
      const decided = await work(answers)
      onAnswers?.(answers)
      return decided
    })
    // Without the answer of the provider, users would be left out forever. The job runs again after the restart.
    if (permissionProvider.isStopped) throw new Error('The server stops.')
    return result
  }
  return { search: { db, caller: key, now, check, accept, channel }, involved }
}
