import type { ApiVersion, Comment, CommentAnnotation, LocatedRange, User } from '@plenum/protocol'
import { shortHash } from '../../access/ids.ts'
import { firstFew, type StoredAnnotation, type StoredComment } from '../../store/comments/annotation.ts'
import { type Contents, findContents, type ReactionIn, refKey } from '../../store/comments/comments.ts'
import * as documents from '../../store/documents/documents.ts'
import type { LongRead } from '../../platform/turns/long-reads.ts'
import type { Db } from '../../store/engine/db.ts'
import { toUser } from '../../store/users/profiles.ts'
import * as users from '../../store/users/users.ts'
import { unique } from '../shared/batches.ts'
import { JsonArrayEncoder } from '../../calls/answers/encoded-json.ts'
import { presentVisibility } from '../../threads/audience-of.ts'
import { maxAnswerBytes, tooLarge } from '../shared/paging.ts'

/** What one batch of statements reads, unless a single annotation has more. */
const maxPerRead = { comments: 300, bytes: 1024 * 1024 }

export interface PresentDeps {
  db: Db
  apiKey: string
  organizationId: string
  version: ApiVersion
  reading: LongRead
  /** With a user: whether the user has not seen the newest comment, by `refKey`. */
  unread?: ReadonlyMap<string, boolean> | undefined
  /** Where the ranges of annotations are now, by `refKey`. */
  ranges?: ReadonlyMap<string, LocatedRange> | undefined
}

/** The annotations as callers read them (spec 22.6). Few statements serve many annotations, if they are small (spec 19.2.2). */
export async function presentAnnotations(
  deps: PresentDeps,
  annotations: readonly StoredAnnotation[],
): Promise<CommentAnnotation[]> {
  const { db, apiKey, organizationId, version, reading } = deps
  const { pause } = reading
  const folders = await findFolders(deps, annotations)
  const shown: CommentAnnotation[] = []
  let encodedBytes = 0
  for (const some of inBatches(annotations)) {
    const contents = await reading.query(() => findContents(db, apiKey, organizationId, some))
    const profile = await findProfiles(deps, some, contents)
    for (const annotation of some) {
      await pause()
      const found = contents.get(refKey(annotation)) as Contents
      const thread = { version, annotationId: annotation.annotationId, profile, pause, ...found }
      const { comments, bytes } = await presentComments(thread)
      encodedBytes += bytes
      if (encodedBytes > maxAnswerBytes) throw tooLarge()
      const folderId = folders.get(annotation.documentId)
      shown.push(presentAnnotation(deps, annotation, comments, found.users, profile, folderId))
    }
  }
  return shown
}

function* inBatches(annotations: readonly StoredAnnotation[]): Generator<StoredAnnotation[]> {
  for (let left = annotations; left.length > 0;) {
    const some = firstFew(left, maxPerRead)
    yield some
    left = left.slice(some.length)
  }
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
  { db, apiKey, reading }: PresentDeps,
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
  return loadProfiles(db, apiKey, [...ids], reading)
}

/** One statement reads this many profiles, of up to 16 KiB each. */
const profilesPerRead = 100

export async function loadProfiles(
  db: Db,
  apiKey: string,
  userIds: readonly string[],
  reading: LongRead,
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

function presentAnnotation(
  { apiKey, organizationId, version, unread, ranges }: PresentDeps,
  annotation: StoredAnnotation,
  comments: Comment[],
  users: Contents['users'],
  profile: Profiles,
  folderId: string | null | undefined,
): CommentAnnotation {
  const { annotationId, documentId, number, authorId, assigneeId, resolvedBy, locationId, data } = annotation
  const { visibility, context, targetEditor: _, ...fields } = data
  const access = annotation.audience?.access
  const isUnread = unread?.get(refKey(annotation))
  const range = ranges?.get(refKey(annotation))
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

interface PresentedThread {
  comments: readonly (StoredComment | undefined)[]
  reactions: readonly ReactionIn[]
  version: ApiVersion
  annotationId: string
  profile: Profiles
  pause: () => Promise<void>
}

/** Comments that name more users than this, authors included, are encoded one by one, with pauses. */
const maxUsersAtOnce = 50

/**
 * The comments as callers read them (spec 22.7), with null in the place of an absent one. Many are returned as encoded JSON, with
 * its size in bytes.
 */
export async function presentComments(
  thread: PresentedThread,
): Promise<{ comments: Comment[]; bytes: number }> {
  const { version, annotationId, comments, reactions, profile, pause } = thread
  const show = (comment: StoredComment | undefined) =>
    comment ? presentComment(version, annotationId, comment, reactions, profile) : null
  const users = comments.reduce(
    (sum, comment) => sum + 1 + (comment?.content.mentioned.length ?? 0),
    reactions.length,
  )
  if (users <= maxUsersAtOnce) return { comments: comments.map(show) as Comment[], bytes: 0 }
  const encoder = new JsonArrayEncoder()
  for (const comment of comments) {
    await pause()
    encoder.add([show(comment)])
  }
  return { comments: encoder.end() as unknown as Comment[], bytes: encoder.bytes }
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
