import { ApiError } from '@plenum/protocol'
import { findDocuments } from './access/access.ts'
import { findFolderChains } from './documents/folder-tree.ts'
import type { Database, Db } from './engine/db.ts'
import { parse } from './engine/json.ts'

/**
 * What a deletion removes:
 * - organizations, a folder with everything below it, or documents, each with everything inside. With `movedTo`, grants,
 *   notifications and notification preferences move to that document first;
 * - users from an organization, with their grants inside it and their inboxes there;
 * - all members of a group;
 * - the notifications of a document, those about annotations that were deleted, or hidden ones by their keys;
 * - one user from the notifications that the user received;
 * - the activities of a document, about an entity, or both, unless they are immutable.
 *
 * `reserved` removes nothing: it keeps requests away from documents that are about to be moved.
 */
export type Scope =
  | { organizationIds: readonly string[] }
  | { organizationId: string; folderId: string }
  | { organizationId: string; documentIds: readonly string[]; movedTo?: string }
  | LeavingUsers
  | { organizationId: string; groupId: string }
  | { organizationId: string; notificationsOf: { documentId: string; locationId?: string } }
  | { organizationId: string; notificationsAbout: DeletedAnnotations }
  | { organizationId: string; hiddenNotifications: readonly string[] }
  | { organizationId: string; inboxOf: Inbox }
  | { organizationId: string; activitiesOf: ActivityFilter }
  | { organizationId: string; reserved: readonly string[] }

export interface LeavingUsers {
  organizationId: string
  userIds: readonly string[]
  /** Unix seconds. Users whose membership ended before this time are skipped. */
  atSeconds: number
}

/** Annotations of one document. */
export interface DeletedAnnotations {
  documentId: string
  annotationIds: readonly string[]
}

/** The notifications of a user: all, or those of one document or location. */
export interface Inbox {
  userId: string
  documentId?: string
  locationId?: string
}

/** At least one of the two is set. */
export interface ActivityFilter {
  documentId?: string
  targetEntityId?: string
}

/** A deletion that has begun. It is too large for one transaction, and continues until nothing is left. */
export interface Deletion {
  deletionId: string
  apiKey: string
  scope: Scope
}

/** The error of a request that names something that is being deleted or moved. */
export const beingDeleted = () =>
  new ApiError('ABORTED', 'Something that the request names is being deleted. Try again.', {
    retryAfterSeconds: 1,
  })

/** Another server continues a deletion whose server has not renewed the lease for this long. */
const leaseMs = 30_000

/** Records a deletion. With a lease the caller continues it. Without a lease the next server that looks for deletions does. */
export async function add(
  db: Db,
  { deletionId, apiKey, scope }: Deletion,
  now: number,
  { isLeased }: { isLeased: boolean },
): Promise<void> {
  await db
    .insertInto('deletions')
    .values({
      api_key: apiKey,
      deletion_id: deletionId,
      scope: JSON.stringify(scope),
      leased_until: isLeased ? now + leaseMs : 0,
      created_at: now,
    })
    .execute()
}

/** Renews the lease. Returns false if the deletion is finished. */
export async function renew(db: Db, apiKey: string, deletionId: string, now: number): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('deletions')
    .set({ leased_until: now + leaseMs })
    .where('api_key', '=', apiKey)
    .where('deletion_id', '=', deletionId)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** Deletes the record of a deletion. Returns false if there is no such record. */
export async function finish(db: Db, apiKey: string, deletionId: string): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('deletions')
    .where('api_key', '=', apiKey)
    .where('deletion_id', '=', deletionId)
    .executeTakeFirst()
  return numDeletedRows > 0n
}

interface Row {
  deletion_id: string
  api_key: string
  scope: string
}

const columns = ['deletion_id', 'api_key', 'scope'] as const
const toDeletion = (row: Row): Deletion => ({
  deletionId: row.deletion_id,
  apiKey: row.api_key,
  scope: parse<Scope>(row.scope),
})

/** The organizations, documents and folders that a request or a live session names. */
export interface NamedResources {
  /** Set by a live session. It shows no notifications and no activities, so it does not wait for their deletion. */
  isLive?: true
  organizationIds: readonly string[]
  documentIds: readonly string[]
  folderIds: readonly string[]
}

async function scopesOf(db: Db, apiKey: string): Promise<Scope[]> {
  const rows = await db.selectFrom('deletions').select(columns).where('api_key', '=', apiKey).execute()
  return rows.map((row) => toDeletion(row).scope)
}

/** Whether an unfinished deletion removes something that the request names. */
export async function isBeingDeleted(db: Db, apiKey: string, named: NamedResources): Promise<boolean> {
  for (const scope of await scopesOf(db, apiKey)) {
    if (await overlaps(db, apiKey, scope, named)) return true
  }
  return false
}

/** Whether an unfinished deletion still moves rows of the document to the new document. */
export async function isMoving(
  db: Db,
  apiKey: string,
  move: { organizationId: string; documentId: string; newDocumentId: string },
): Promise<boolean> {
  const scopes = await scopesOf(db, apiKey)
  return scopes.some(
    (scope) =>
      'movedTo' in scope &&
      scope.organizationId === move.organizationId &&
      scope.movedTo === move.newDocumentId &&
      scope.documentIds.includes(move.documentId),
  )
}

/**
 * Whether a request or a live session must wait for a deletion. A request that names the organization waits, unless it also
 * names documents and the deletion removes or moves only other documents, or their notifications. Removing users, group
 * members or the whole inbox of a user affects all documents.
 */
export async function overlaps(
  db: Db,
  apiKey: string,
  scope: Scope,
  { isLive, organizationIds, documentIds, folderIds }: NamedResources,
): Promise<boolean> {
  if ('organizationIds' in scope) return organizationIds.some((id) => scope.organizationIds.includes(id))
  // No request can see hidden notifications, and no user those about deleted annotations.
  if ('hiddenNotifications' in scope || 'notificationsAbout' in scope) return false
  if (isLive && ('notificationsOf' in scope || 'inboxOf' in scope || 'activitiesOf' in scope)) return false
  const { organizationId } = scope
  if (!organizationIds.includes(organizationId)) return false
  // A live session that names no document is signing in, which changes only the members of the organization.
  if (isLive && documentIds.length === 0) return 'userIds' in scope
  if (documentIds.length === 0 || 'userIds' in scope || 'groupId' in scope) return true
  if ('reserved' in scope) return documentIds.some((id) => scope.reserved.includes(id))
  if ('notificationsOf' in scope) return documentIds.includes(scope.notificationsOf.documentId)
  if ('inboxOf' in scope || 'activitiesOf' in scope) {
    const { documentId } = 'inboxOf' in scope ? scope.inboxOf : scope.activitiesOf
    return documentId === undefined || documentIds.includes(documentId)
  }
  if ('documentIds' in scope)
    return documentIds.some((id) => scope.documentIds.includes(id) || id === scope.movedTo)
  const documents = await findDocuments(db, apiKey, organizationId, documentIds.slice(0, 500))
  const around = [...documents.values()].flatMap(({ folderId }) => folderId ?? [])
  const chains = await findFolderChains(db, apiKey, organizationId, [...new Set([...around, ...folderIds])])
  return chains.has(scope.folderId)
}

/** Finds the deletions whose lease ended before `now`. */
export async function findAbandoned({ read }: Database, now: number): Promise<Deletion[]> {
  const rows = await read.selectFrom('deletions').select(columns).where('leased_until', '<', now).execute()
  return rows.map(toDeletion)
}
