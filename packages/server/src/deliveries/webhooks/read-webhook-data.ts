import type { EventName, Priority, Status } from '@plenum/protocol'
import type { PermissionProvider } from '../../access/provider/permission-provider.ts'
import type { StoredDocuments } from '../../crdt/stored-documents.ts'
import type { Clock } from '../../platform/clock.ts'
import { yieldIfLate } from '../../platform/turns/loop-time.ts'
import type { ApiKey } from '../../store/api-keys.ts'
import type { Audience } from '../../store/comments/audience.ts'
import * as documents from '../../store/documents/documents.ts'
import type { Database, Db } from '../../store/engine/db.ts'
import * as organizations from '../../store/organizations.ts'
import type { DocumentRef } from '../../store/refs.ts'
import { presentVisibility } from '../../threads/audience-of.ts'
import {
  loadProfiles,
  presentAnnotation,
  presentComment,
  type Profiles,
  unresolvedRange,
  userIdsIn,
} from '../../threads/shown-annotations.ts'
import { readEditorContent } from './editor-content.ts'
import { type EventThread, readEventThread } from './event-thread.ts'
import { fitted } from './fit.ts'
import { findDeniedUsers, findPreferences } from './involved-users.ts'
import type { ContentEvent, ThreadEvent, WebhookEvent } from '../../events/webhook-event.ts'
import type { WebhookData } from './webhook-data.ts'

export interface WebhookDataDeps {
  database: Pick<Database, 'read'>
  clock: Pick<Clock, 'now'>
  permissionProvider: PermissionProvider
  storedDocuments: Pick<StoredDocuments, 'render'>
}

interface ReadOptions {
  /** Whether to find out who of the involved users has no access: it may take long, because the permission provider is asked. */
  findsDenied: boolean
}

/** Reads everything that a webhook about an event says now (spec 24.5). Call it outside of transactions. */
export function readWebhookData(
  deps: WebhookDataDeps,
  key: ApiKey,
  event: WebhookEvent,
  options: ReadOptions,
): Promise<WebhookData> {
  return 'editorId' in event
    ? readContentData(deps, key, event, options)
    : readThreadData(deps, key, event, options)
}

async function readThreadData(
  deps: WebhookDataDeps,
  key: ApiKey,
  recorded: ThreadEvent,
  options: ReadOptions,
): Promise<WebhookData> {
  const { read: db } = deps.database
  const { apiKey } = key
  const thread = await readEventThread(db, apiKey, recorded)
  const { annotation, contents, target } = thread
  const event = annotation ? { ...recorded, documentId: annotation.documentId } : recorded
  const { changes = {} } = event.payload
  const profile = await readProfiles(db, apiKey, [
    event.actorId,
    event.name === 'comment_annotation.assign' ? (changes.to as string | null) : null,
    ...(annotation ? userIdsIn(annotation, contents) : []),
    ...(target ? [target.authorId, ...target.content.mentioned] : []),
  ])
  const involved = new Set(
    [annotation?.authorId, annotation?.assigneeId, ...contents.users.map(({ userId }) => userId)].filter(
      (id) => id != null,
    ),
  )
  const { folderId, ...metadata } = await readMetadata(db, apiKey, event)
  return fitted({
    ...common(event, profile),
    ...shownThread(key, event, thread, profile, folderId),
    ...changeOf(event, profile),
    metadata,
    ...(await aboutUsers(deps, key, event, annotation?.audience ?? null, [...involved], options)),
  })
}

async function readContentData(
  deps: WebhookDataDeps,
  key: ApiKey,
  event: ContentEvent,
  options: ReadOptions,
): Promise<WebhookData> {
  const { read: db } = deps.database
  const { apiKey } = key
  const { actorId } = event
  const crdtData = await readEditorContent(db, deps.storedDocuments, apiKey, event)
  const profile = await readProfiles(db, apiKey, [actorId])
  const { folderId: _, ...metadata } = await readMetadata(db, apiKey, event)
  return {
    ...common(event, profile),
    crdtData,
    metadata,
    ...(await aboutUsers(deps, key, event, null, actorId === undefined ? [] : [actorId], options)),
  }
}

const common = ({ name, webhookId, platform, actorId }: WebhookEvent, profile: Profiles) => ({
  event: name as EventName,
  webhookId,
  platform,
  ...(actorId !== undefined && { actionUser: profile(actorId) }),
})

async function readProfiles(
  db: Db,
  apiKey: string,
  userIds: readonly (string | null | undefined)[],
): Promise<Profiles> {
  const ids = new Set(userIds.filter((id) => id != null))
  const query = async <T>(work: () => Promise<T>) => {
    await yieldIfLate()
    return work()
  }
  return loadProfiles(db, apiKey, [...ids], { query })
}

/** The annotation and the comment, as REST shows them. */
function shownThread(
  { apiKey }: ApiKey,
  { organizationId, commentId, payload }: ThreadEvent,
  { annotation, contents, hasMoreComments, target }: EventThread,
  profile: Profiles,
  folderId: string | null,
): Pick<WebhookData, 'commentAnnotation' | 'targetComment' | 'visibility'> {
  // Nothing is left to show of a comment that was deleted.
  const withoutComment = commentId === undefined ? {} : { targetComment: { commentId } }
  if (!annotation) {
    const { annotationId, annotationNumber } = payload.annotation
    return { commentAnnotation: { annotationId, annotationNumber, isDeleted: true }, ...withoutComment }
  }
  const { annotationId, data, audience } = annotation
  const { comments, reactions, users } = contents
  const show = (comment: (typeof comments)[number]) =>
    presentComment('v2', annotationId, comment, reactions, profile)
  const shown = presentAnnotation(annotation, {
    apiKey,
    organizationId,
    version: 'v2',
    comments: comments.map(show),
    users,
    profile,
    folderId,
    range: data.targetEditor && unresolvedRange(data.targetEditor),
  })
  const visibility = presentVisibility(data.visibility, audience)
  return {
    commentAnnotation: { ...shown, ...(hasMoreComments && { hasMoreComments }) },
    ...(target ? { targetComment: show(target) } : withoutComment),
    ...(visibility.type !== 'public' && { visibility }),
  }
}

/** What the event changed, as it was then. */
function changeOf({ name, payload }: ThreadEvent, profile: Profiles) {
  const { changes: { from, to } = {}, icon } = payload
  if (name === 'comment_annotation.status_change')
    return { oldStatus: from as Status, newStatus: to as Status }
  if (name === 'comment_annotation.priority_change') return { newPriority: to as Priority | null }
  if (name === 'comment_annotation.assign') return { assigned: typeof to === 'string' ? profile(to) : null }
  return icon === undefined ? {} : { reaction: { icon } }
}

async function readMetadata(db: Db, apiKey: string, { organizationId, documentId }: DocumentRef) {
  const [document] = await documents.findMany(db, apiKey, organizationId, [documentId])
  const [organization] = await organizations.findMany(db, apiKey, [organizationId])
  const { id: _, ...ofOrganization } = organization ?? { id: organizationId }
  return {
    apiKey,
    organizationId,
    documentId,
    document: { ...document?.data, documentId },
    organization: { ...ofOrganization, organizationId },
    folderId: document?.folderId ?? null,
  }
}

async function aboutUsers(
  { database: { read: db }, clock, permissionProvider }: WebhookDataDeps,
  key: ApiKey,
  event: DocumentRef,
  audience: Audience | null,
  userIds: readonly string[],
  { findsDenied }: ReadOptions,
) {
  const checks = { db, now: clock.now(), permissionProvider }
  return {
    ...(await findPreferences(db, key.apiKey, event, userIds)),
    accessDeniedUsers: findsDenied ? await findDeniedUsers(checks, key, event, audience, userIds) : [],
  }
}
