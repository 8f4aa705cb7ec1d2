import type { ApiVersion, Comment, CommentAnnotation, User } from '@plenum/protocol'
import { shortHash } from '../../access/ids.ts'
import type { StoredAnnotation, StoredComment } from '../../store/comments/annotation.ts'
import { type Contents, findContents, type ReactionIn, refKey } from '../../store/comments/comments.ts'
import * as documents from '../../store/documents/documents.ts'
import type { Db } from '../../store/engine/db.ts'
import { slices } from '../../store/engine/slices.ts'
import { toUser } from '../../store/users/profiles.ts'
import * as users from '../../store/users/users.ts'
import { unique } from '../shared/batches.ts'
import { presentVisibility } from '../../threads/audience-of.ts'

/** One batch of statements reads at most this many comments and bytes of comments, unless a single annotation has more. */
const maxCommentsPerRead = 300
const maxBytesPerRead = 1024 * 1024

export interface PresentDeps {
  db: Db
  apiKey: string
  organizationId: string
  version: ApiVersion
  /** Called between reads. */
  pause: () => Promise<void>
  /** With a user: whether the user has not seen the newest comment, by `refKey`. */
  unread?: ReadonlyMap<string, boolean> | undefined
}

/**
 * The annotations as callers read them (spec 22.6). The number of statements does not depend on the number of annotations,
 * as long as they have few comments: comments, reactions, involved users, profiles, documents.
 */
export async function presentAnnotations(
  deps: PresentDeps,
  annotations: readonly StoredAnnotation[],
): Promise<CommentAnnotation[]> {
  const { db, apiKey, organizationId, pause } = deps
  const folders = await findFolders(deps, annotations)
  const shown: CommentAnnotation[] = []
  for (const some of inBatches(annotations)) {
    await pause()
    const contents = await findContents(db, apiKey, organizationId, some)
    const profiles = await findProfiles(deps, some, contents)
    for (const annotation of some) {
      await pause()
      const found = contents.get(refKey(annotation)) as Contents
      shown.push(presentAnnotation(deps, annotation, found, profiles, folders.get(annotation.documentId)))
    }
  }
  return shown
}

function* inBatches(annotations: readonly StoredAnnotation[]): Generator<StoredAnnotation[]> {
  let some: StoredAnnotation[] = []
  let count = 0
  let bytes = 0
  for (const annotation of annotations) {
    const { comments, commentBytes } = annotation
    if (
      some.length > 0 &&
      (count + comments > maxCommentsPerRead || bytes + commentBytes > maxBytesPerRead)
    ) {
      yield some
      some = []
      count = 0
      bytes = 0
    }
    some.push(annotation)
    count += comments
    bytes += commentBytes
  }
  if (some.length > 0) yield some
}

async function findFolders(
  { db, apiKey, organizationId }: PresentDeps,
  annotations: readonly StoredAnnotation[],
) {
  const ids = unique(annotations.map(({ documentId }) => documentId))
  const found = await documents.findMany(db, apiKey, organizationId, ids)
  return new Map(found.map(({ documentId, folderId }) => [documentId, folderId]))
}

type Profiles = (userId: string) => User

/** The profiles of all users whom the annotations name. */
async function findProfiles(
  { db, apiKey }: PresentDeps,
  annotations: readonly StoredAnnotation[],
  contents: ReadonlyMap<string, Contents>,
): Promise<Profiles> {
  const ids = new Set<string>()
  for (const { authorId, assigneeId, resolvedBy } of annotations) {
    for (const id of [authorId, assigneeId, resolvedBy]) if (id !== null) ids.add(id)
  }
  for (const { comments, reactions, users } of contents.values()) {
    for (const { authorId, content } of comments)
      for (const id of [authorId, ...content.mentioned]) ids.add(id)
    for (const { userId } of [...reactions, ...users]) ids.add(userId)
  }
  return loadProfiles(db, apiKey, [...ids])
}

export async function loadProfiles(db: Db, apiKey: string, userIds: readonly string[]): Promise<Profiles> {
  const found = new Map<string, User>()
  for (const ids of slices(userIds)) {
    for (const [id, user] of await users.findMany(db, apiKey, ids)) found.set(id, user)
  }
  // A user who was deleted has no profile any more.
  return (userId) => found.get(userId) ?? toUser(userId, {})
}

function presentAnnotation(
  { apiKey, organizationId, version, unread }: PresentDeps,
  annotation: StoredAnnotation,
  { comments, reactions, users }: Contents,
  profile: Profiles,
  folderId: string | null | undefined,
): CommentAnnotation {
  const { annotationId, documentId, number, authorId, assigneeId, resolvedBy, locationId, data } = annotation
  const { visibility, context, ...fields } = data
  const access = annotation.audience?.access
  const isUnread = unread?.get(refKey(annotation))
  return {
    annotationId,
    annotationNumber: number,
    commentType: 'manual',
    ...fields,
    comments: comments.map((comment) => presentComment(version, annotationId, comment, reactions, profile)),
    from: profile(authorId),
    ...(assigneeId !== null && { assignedTo: profile(assigneeId) }),
    ...(resolvedBy !== null && { resolvedByUserId: resolvedBy, resolvedByUser: profile(resolvedBy) }),
    ...(locationId !== null && { locationId: Number(locationId) }),
    ...(context && { context: { ...context, ...(access && { accessFields: access }) } }),
    visibilityConfig: presentVisibility(visibility, annotation.audience),
    ...presentInvolved(users, profile),
    ...(isUnread !== undefined && { unread: isUnread }),
    metadata: { apiKey, organizationId, documentId, ...(folderId != null && { folderId }) },
    createdAt: timeFor(version, annotation.createdAt),
    lastUpdated: timeFor(version, annotation.lastUpdated),
  }
}

/** Who wrote, is mentioned or assigned, and who is told about changes: these users, unless they have unsubscribed. */
function presentInvolved(users: Contents['users'], profile: Profiles) {
  const withInvolvement = (...kinds: string[]) =>
    unique(users.filter(({ involvement }) => kinds.includes(involvement)).map(({ userId }) => userId))
  const involvedUserIds = withInvolvement('commented', 'mentioned', 'assigned')
  const manual = new Set(withInvolvement('subscribed'))
  const unsubscribed = new Set(withInvolvement('unsubscribed'))
  const subscribed = unique([...involvedUserIds, ...manual]).filter((id) => !unsubscribed.has(id))
  const entry = (id: string) => {
    const type = manual.has(id) || unsubscribed.has(id) ? 'manual' : 'auto'
    return [shortHash(id), { user: profile(id), type }]
  }
  return {
    involvedUserIds,
    mentionedUserIds: withInvolvement('mentioned'),
    subscribedUsers: Object.fromEntries(subscribed.map(entry)),
    unsubscribedUsers: Object.fromEntries([...unsubscribed].map(entry)),
  }
}

export function presentComment(
  version: ApiVersion,
  annotationId: string,
  { commentId, authorId, content, createdAt, lastUpdated }: StoredComment,
  reactions: readonly ReactionIn[],
  profile: Profiles,
): Comment {
  const { mentioned, editedAt, attachments = [], taggedUserContacts = [], ...fields } = content
  const shown = presentReactions(
    annotationId,
    reactions.filter((reaction) => reaction.commentId === commentId),
    profile,
  )
  return {
    commentId,
    type: 'text',
    ...fields,
    from: profile(authorId),
    to: mentioned.map(profile),
    taggedUserContacts,
    status: editedAt === undefined ? 'added' : 'updated',
    ...(editedAt !== undefined && { isEdited: true, editedAt: timeFor(version, editedAt) }),
    attachments,
    recorders: [],
    reactionAnnotationIds: shown.map((reaction) => reaction.annotationId),
    reactionAnnotations: shown,
    createdAt: timeFor(version, createdAt),
    lastUpdated: new Date(lastUpdated).toISOString(),
  }
}

/** One reaction for each icon, with its users in the order in which they reacted. */
function presentReactions(annotationId: string, reactions: readonly ReactionIn[], profile: Profiles) {
  return unique(reactions.map(({ icon }) => icon)).map((icon) => {
    const same = reactions.filter((reaction) => reaction.icon === icon)
    return {
      annotationId: reactionId(annotationId, same[0] as ReactionIn),
      type: 'reaction' as const,
      icon,
      fromUsers: same.map(({ userId, createdAt }) => ({ from: profile(userId), lastUpdated: createdAt })),
      commentAnnotationId: annotationId,
      lastUpdated: Math.max(...same.map(({ createdAt }) => createdAt)),
    }
  })
}

const reactionId = (annotationId: string, { commentId, icon }: ReactionIn) =>
  shortHash(JSON.stringify([annotationId, commentId, icon]))

/** `v1` writes times in ISO 8601, `v2` in milliseconds (spec 19.2). */
const timeFor = (version: ApiVersion, time: number) =>
  version === 'v1' ? new Date(time).toISOString() : time
