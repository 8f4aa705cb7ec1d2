import {
  type AddedAnnotation,
  ApiError,
  builtInStatuses,
  type CommentAnnotationInput,
  type EditorRange,
  type Input,
  type Operations,
} from '@plenum/protocol'
import { newAnnotationId } from '../../access/ids.ts'
import { partial } from '../../calls/answers/reply.ts'
import type { Call, PreparedWrite } from '../../calls/call.ts'
import { yieldIfLate } from '../../platform/turns/loop-time.ts'
import type { AnnotationData, StoredAnnotation, StoredRange } from '../../store/comments/annotation.ts'
import * as annotations from '../../store/comments/annotations.ts'
import type { DocumentRef } from '../../store/refs.ts'
import { requireLevel } from '../shared/levels.ts'
import { locationIdOf, requireIdentity } from '../shared/locations.ts'
import { audienceOf, checkVisibility } from '../../threads/audience-of.ts'
import { ThreadChanges } from '../../threads/thread-changes.ts'
import { appendComments, CommentReader, type ReadComment } from './added-comments.ts'
import { anchorRanges } from './anchored-ranges.ts'
import { ensureAuthors, findDenied, findExisting, type NamedUser, requireExisting } from './authors.ts'
import { refuseFields } from '../shared/calling-user.ts'
import { deniedMessage, notifies, requireAccess, requirePrivateComments } from './acting-user.ts'

type Add = Operations['commentAnnotations']['add']

/** An annotation of the input, checked. */
interface ReadAnnotation {
  sent: CommentAnnotationInput
  /** Its key in the answer if it is refused and has no id. */
  index: number
  comments: ReadComment[]
  authorId: string
  named: NamedUser[]
}

export const addAnnotations: PreparedWrite<Add> = {
  isShort: true,
  prepare: (call) => anchorRanges(call, documentOf(call.input), rangesIn(call.input)),
  write: addPrepared,
}

const documentOf = ({ organizationId, documentId }: DocumentRef) => ({ organizationId, documentId })

const rangesIn = ({ commentAnnotations }: Input<Add>) =>
  commentAnnotations.flatMap(({ targetEditor: range }, index) =>
    range ? [{ range, path: `commentAnnotations[${index}].targetEditor` }] : [],
  )

type AnchoredRanges = ReadonlyMap<EditorRange, StoredRange>

async function addPrepared(call: Call<Add>, ranges: AnchoredRanges) {
  const { input, caller, db, now, signal } = call
  const { organizationId, documentId, createOrganization, createDocument } = input
  const reader = new CommentReader(caller.user)
  const read: ReadAnnotation[] = []
  for (const [index, sent] of input.commentAnnotations.entries()) {
    read.push(await readAnnotation(reader, sent, index, caller))
  }
  refuseFields(caller.user, input, ['createOrganization', 'createDocument', 'verifyUserPermissions'])
  const create = { organization: createOrganization, document: createDocument }
  const level = { organizationId, type: 'document', id: documentId } as const
  await requireLevel(db, caller.apiKey, level, create, now, signal)
  const ref = { organizationId, documentId }
  await requireAccess(call, ref, 'write')
  const refused = input.verifyUserPermissions
    ? await findDenied(db, caller, ref, read.flatMap(authorsOf), now)
    : new Set<string>()
  const authors = read.flatMap(({ comments }) => comments.map(({ author }) => author))
  await ensureAuthors(
    db,
    caller.apiKey,
    authors.filter(({ userId }) => !refused.has(userId)),
    now,
  )
  const existingUsers = await findExisting(call, organizationId, read.flatMap(namedIn))
  requireExisting(
    existingUsers,
    read.flatMap(({ named }) => named),
  )

  const sentIds = read.flatMap(({ sent }) => sent.annotationId ?? [])
  const stored = await annotations.findByIds(db, caller.apiKey, ref, sentIds)
  const taken = new Set(stored.map(({ annotationId }) => annotationId))
  const seen = new Set<string>()
  const isRepeated = ({ sent: { annotationId } }: ReadAnnotation) => {
    if (annotationId === undefined) return false
    const isKnown = seen.has(annotationId)
    seen.add(annotationId)
    return isKnown
  }
  const items = read.filter((one) => !isRepeated(one))
  const isDenied = (one: ReadAnnotation) => authorsOf(one).some((id) => refused.has(id))
  const isTaken = ({ sent }: ReadAnnotation) =>
    sent.annotationId !== undefined && taken.has(sent.annotationId)
  const accepted = items.filter((one) => !isDenied(one) && !isTaken(one))

  const added = await add(call, accepted, existingUsers, ranges)
  const results = items.map((one): [string, AddedAnnotation] => {
    const { annotationId } = one.sent
    if (isDenied(one)) {
      const result = {
        success: false,
        ...(annotationId !== undefined && { annotationId }),
        message: deniedMessage,
      }
      return [annotationId ?? `__svc_denied:${one.index}`, result]
    }
    const result = added.get(one) ?? { success: false, annotationId, message: existsMessage }
    return [result.annotationId as string, result]
  })
  const data = Object.fromEntries(results)
  if (items.some(isDenied))
    return partial(new ApiError('PERMISSION_DENIED', deniedMessage, { details: data }))
  if (items.some(isTaken)) return partial(new ApiError('ALREADY_EXISTS', existsMessage, { details: data }))
  return data
}

const existsMessage = 'Annotation already exists.'

const authorsOf = ({ comments }: ReadAnnotation) => comments.map(({ author }) => author.userId)
const namedIn = ({ comments, named }: ReadAnnotation) => [
  ...comments.flatMap(({ braced }) => braced),
  ...named.map(({ userId }) => userId),
]

async function readAnnotation(
  reader: CommentReader,
  sent: CommentAnnotationInput,
  index: number,
  caller: Call<Add>['caller'],
): Promise<ReadAnnotation> {
  const path = `commentAnnotations[${index}]`
  const comments = await reader.read(sent.commentData, `${path}.commentData`)
  refuseFields(caller.user, sent, ['createdAt', 'lastUpdated'], `${path}.`)
  checkVisibility(sent.visibility, `${path}.visibility`)
  requireIdentity(sent.location, `${path}.location`)
  requirePrivateComments(caller, sent.visibility)
  const { assignedTo, visibility } = sent
  const named = [
    ...comments.flatMap((comment) => comment.named),
    ...(assignedTo ? [{ userId: assignedTo.userId, field: `${path}.assignedTo` }] : []),
    ...(visibility?.userIds ?? []).map((userId) => ({ userId, field: `${path}.visibility.userIds` })),
  ]
  return { sent, index, comments, authorId: comments[0]?.author.userId as string, named }
}

async function add(
  call: Call<Add>,
  read: readonly ReadAnnotation[],
  existingUsers: ReadonlySet<string>,
  ranges: AnchoredRanges,
): Promise<Map<ReadAnnotation, AddedAnnotation>> {
  const added = new Map<ReadAnnotation, AddedAnnotation>()
  if (read.length === 0) return added
  const { input, now } = call
  const changes = await ThreadChanges.begin(call, input, read.length)
  for (const one of read) {
    await yieldIfLate()
    const place = { seq: changes.seq, now, usedIds: new Set<number>(), existingUsers }
    const empty = emptyAnnotation(call, one, changes, ranges)
    const { annotation, added: comments, involved } = appendComments(empty, one.comments, place)
    const { assigneeId } = annotation
    changes.put(annotation)
    changes.involve(annotation, [
      ...involved,
      ...(assigneeId === null ? [] : [{ userId: assigneeId, involvement: 'assigned' as const }]),
    ])
    for (const [index, comment] of comments.entries()) {
      changes.putComment(annotation, comment)
      changes.record({
        name: index === 0 ? 'comment_annotation.add' : 'comment.add',
        annotation,
        actorId: comment.authorId,
        notifies: notifies(call.caller.user, one.comments[index]?.sent.triggerNotification),
        triggerActivities: one.comments[index]?.sent.triggerActivities,
        comment,
      })
    }
    const { annotationId } = annotation
    const commentIds = comments.map(({ commentId }) => commentId)
    added.set(one, { success: true, annotationId, commentIds, message: 'Added Successfully' })
  }
  await changes.save()
  return added
}

/** The annotation without its comments. */
function emptyAnnotation(
  { input: { organizationId, documentId }, caller, now }: Call<Add>,
  { sent, authorId }: ReadAnnotation,
  changes: ThreadChanges,
  ranges: AnchoredRanges,
): StoredAnnotation {
  const { visibility, context, assignedTo } = sent
  const location = locationIdOf(sent.location)
  return {
    documentId,
    number: changes.takeNumber(),
    annotationId: sent.annotationId ?? newAnnotationId(now),
    seq: changes.seq,
    createdSeq: changes.seq,
    audienceSeq: changes.seq,
    authorId,
    assigneeId: assignedTo?.userId ?? null,
    resolvedBy: null,
    locationId: location === undefined ? null : String(location),
    comments: 0,
    commentBytes: 0,
    lastPosition: 0,
    lastCommentSeq: 0,
    lastCommentBy: authorId,
    otherCommentSeq: 0,
    audience: audienceOf({ visibility, context, authorId, organizationId }),
    data: dataOf(sent, ranges, caller.user !== undefined),
    createdAt: sent.createdAt ?? now,
    lastUpdated: sent.lastUpdated ?? now,
  }
}

function dataOf(sent: CommentAnnotationInput, ranges: AnchoredRanges, isUser: boolean): AnnotationData {
  const { location, targetElement, context, priority, visibility, commentType, pageInfo } = sent
  const targetEditor = sent.targetEditor && ranges.get(sent.targetEditor)
  const type = sent.type ?? 'comment'
  return {
    type,
    status: sent.status ?? builtInStatuses.default,
    ...(priority && { priority }),
    ...(location && { location }),
    ...(targetElement && { targetElement }),
    ...(targetEditor && { targetEditor }),
    ...(context && { context }),
    ...(visibility && visibility.type !== 'public' && { visibility }),
    ...(commentType && { commentType }),
    ...(pageInfo && { pageInfo }),
    ...(type === 'suggestion' && { suggestion: { ...sent.suggestion, status: 'pending' as const } }),
    ...(!isUser && { sourceType: 'rest-api' as const }),
  }
}
