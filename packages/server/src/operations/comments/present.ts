import type { ApiVersion, Comment, CommentAnnotation, LocatedRange } from '@plenum/protocol'
import { firstFew, type StoredAnnotation, type StoredComment } from '../../store/comments/annotation.ts'
import { type Contents, findContents, type ReactionIn, refKey } from '../../store/comments/comments.ts'
import * as documents from '../../store/documents/documents.ts'
import type { LongRead } from '../../platform/turns/long-reads.ts'
import type { Db } from '../../store/engine/db.ts'
import { unique } from '../shared/batches.ts'
import { JsonArrayEncoder } from '../../calls/answers/encoded-json.ts'
import {
  loadProfiles,
  presentAnnotation,
  presentComment,
  type Profiles,
  userIdsIn,
} from '../../threads/shown-annotations.ts'
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
  const { db, apiKey, organizationId, version, reading, unread, ranges } = deps
  const { pause } = reading
  const folders = await findFolders(deps, annotations)
  const shown: CommentAnnotation[] = []
  let encodedBytes = 0
  for (const some of inBatches(annotations)) {
    const contents = await reading.query(() => findContents(db, apiKey, organizationId, some))
    const profile = await findProfiles(deps, some, contents)
    for (const annotation of some) {
      await pause()
      const key = refKey(annotation)
      const found = contents.get(key) as Contents
      const thread = { version, annotationId: annotation.annotationId, profile, pause, ...found }
      const { comments, bytes } = await presentComments(thread)
      encodedBytes += bytes
      if (encodedBytes > maxAnswerBytes) throw tooLarge()
      const parts = {
        apiKey,
        organizationId,
        version,
        comments,
        users: found.users,
        profile,
        folderId: folders.get(annotation.documentId),
        isUnread: unread?.get(key),
        range: ranges?.get(key),
      }
      shown.push(presentAnnotation(annotation, parts))
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

/** The profiles of all users whom the annotations name. */
async function findProfiles(
  { db, apiKey, reading }: PresentDeps,
  annotations: readonly StoredAnnotation[],
  contents: ReadonlyMap<string, Contents>,
): Promise<Profiles> {
  const ids = new Set<string>()
  for (const annotation of annotations)
    for (const id of userIdsIn(annotation, contents.get(refKey(annotation)) as Contents)) ids.add(id)
  return loadProfiles(db, apiKey, [...ids], reading)
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
