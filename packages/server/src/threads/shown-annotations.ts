import type { ApiVersion, Comment, CommentAnnotation, LocatedRange, User } from '@plenum/protocol'
import { shortHash } from '../access/ids.ts'
import type { LongRead } from '../platform/turns/long-reads.ts'
import type { StoredAnnotation, StoredComment, StoredRange } from '../store/comments/annotation.ts'
import type { Contents, ReactionIn } from '../store/comments/comments.ts'
import type { Db } from '../store/engine/db.ts'
import { toUser } from '../store/users/profiles.ts'
import * as users from '../store/users/users.ts'
import { presentVisibility } from './audience-of.ts'

/** The profile of a user, as it is shown beside comments. */
export type Profiles = (userId: string) => User

/** One statement reads this many profiles, of up to 16 KiB each. */
const profilesPerRead = 100

export async function loadProfiles(
  db: Db,
  apiKey: string,
  userIds: readonly string[],
  reading: Pick<LongRead, 'query'>,
): Promise<Profiles> {
  const found = new Map<string, User>()
  for (let from = 0; from < userIds.length; from += profilesPerRead) {
    const ids = userIds.slice(from, from + profilesPerRead)
    const read = await reading.query(() => users.findMany(db, apiKey, ids))
    for (const [id, user] of read) found.set(id, shownProfile(user))
  }
  // A user who was deleted has no profile any more.
  return (userId) => found.get(userId) ?? toUser(userId, {})
}

/** What is shown of a user beside a comment. The rest of a profile may be long, and an answer repeats it for each mention. */
const shownProfile = ({ userId, name, email, photoUrl, initial, color, textColor }: User): User => ({
  userId,
  name,
  ...(email !== undefined && { email }),
  ...(photoUrl !== undefined && { photoUrl }),
  initial,
  color,
  ...(textColor !== undefined && { textColor }),
})

/** The parts of a stored annotation that are shown. */
export type ShownAnnotation = Pick<
  StoredAnnotation,
  | 'annotationId'
  | 'documentId'
  | 'number'
  | 'authorId'
  | 'assigneeId'
  | 'resolvedBy'
  | 'locationId'
  | 'audience'
  | 'data'
  | 'createdAt'
  | 'lastUpdated'
>

/** The ids of all users whom an annotation shows. */
export function* userIdsIn(
  { authorId, assigneeId, resolvedBy }: ShownAnnotation,
  { comments, reactions, users }: Contents,
): Generator<string> {
  for (const id of [authorId, assigneeId, resolvedBy]) if (id !== null) yield id
  for (const { authorId, content } of comments) yield* [authorId, ...content.mentioned]
  for (const { userId } of [...reactions, ...users]) yield userId
}

/** What an annotation is shown with. */
interface AnnotationParts {
  apiKey: string
  organizationId: string
  version: ApiVersion
  comments: Comment[]
  users: Contents['users']
  profile: Profiles
  folderId: string | null | undefined
  /** With a user: whether the user has not seen the newest comment. */
  isUnread?: boolean | undefined
  range?: LocatedRange | undefined
}

/** An annotation as callers read it (spec 22.6). */
export function presentAnnotation(annotation: ShownAnnotation, parts: AnnotationParts): CommentAnnotation {
  const { apiKey, organizationId, version, comments, users, profile, folderId, isUnread, range } = parts
  const { annotationId, documentId, number, authorId, assigneeId, resolvedBy, locationId, data } = annotation
  const { visibility, context, targetEditor: _, ...fields } = data
  const access = annotation.audience?.access
  return {
    annotationId,
    annotationNumber: number,
    commentType: 'manual',
    ...fields,
    comments,
    from: profile(authorId),
    ...(assigneeId !== null && { assignedTo: profile(assigneeId) }),
    ...(resolvedBy !== null && { resolvedByUserId: resolvedBy, resolvedByUser: profile(resolvedBy) }),
    ...(locationId !== null && { locationId: Number(locationId) }),
    ...(range && { targetEditor: range }),
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
  const idsOf = (some: Contents['users']) => [...new Set(some.map(({ userId }) => userId))]
  const withInvolvement = (...kinds: string[]) =>
    idsOf(users.filter(({ involvement }) => kinds.includes(involvement)))
  const involvedUserIds = withInvolvement('commented', 'mentioned', 'assigned')
  const manual = new Set(withInvolvement('subscribed'))
  const unsubscribed = new Set(withInvolvement('unsubscribed'))
  const subscribed = [...new Set([...involvedUserIds, ...manual])].filter((id) => !unsubscribed.has(id))
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

/** A comment as callers read it (spec 22.7). */
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
  return [...new Set(reactions.map(({ icon }) => icon))].map((icon) => {
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

/** What callers see of a stored range. */
export const shownRange = ({ editorId, contentKey, anchor, head, quote }: StoredRange) => ({
  editorId,
  contentKey,
  anchor,
  head,
  quote,
})

/** A range whose place is not looked up. */
export const unresolvedRange = (range: StoredRange): LocatedRange => ({
  ...shownRange(range),
  resolved: false,
})
