import {
  ApiError,
  builtInStatuses,
  type CommentAnnotationChange,
  type Input,
  type RecordedName,
  maxBatchItems,
  type Operations,
  type Status,
} from '@plenum/protocol'
import type { Call, PreparedWrite } from '../../calls/call.ts'
import { yieldIfLate } from '../../platform/turns/loop-time.ts'
import type { StoredAnnotation, StoredRange } from '../../store/comments/annotation.ts'
import { outcomes } from '../shared/batches.ts'
import { locationIdOf, requireIdentity } from '../shared/locations.ts'
import { audienceOf, changedAudience, checkVisibility } from '../../threads/audience-of.ts'
import { anchorRanges } from './anchored-ranges.ts'
import { ensureAuthors, findExisting, type NamedUser, requireExisting } from './authors.ts'
import { refuseFields } from '../shared/calling-user.ts'
import { notifies, requireAccess, requireAuthorship, requirePrivateComments } from './acting-user.ts'
import { replaceUsers } from './replaced-users.ts'
import { selectAnnotations } from './selected-annotations.ts'
import { ThreadChanges } from '../../threads/thread-changes.ts'

type Update = Operations['commentAnnotations']['update']

const invalid = (message: string) => new ApiError('INVALID_ARGUMENT', message)

/** All comments of the annotations are written again if users are replaced. */
const maxReplacedBytes = 8 * 1024 * 1024

export const updateAnnotations: PreparedWrite<Update> = {
  isShort: true,
  async prepare(call): Promise<StoredRange | undefined> {
    const range = changeIn(call.input)?.targetEditor
    if (!range) return undefined
    const { organizationId, documentId } = call.input
    const sent = [{ range, path: 'updatedData.targetEditor' }]
    return (await anchorRanges(call, { organizationId, documentId }, sent)).get(range)
  },
  write: updatePrepared,
}

const changeIn = ({ updatedData }: Input<Update>) =>
  Array.isArray(updatedData) ? updatedData[0] : updatedData

async function updatePrepared(call: Call<Update>, range: StoredRange | undefined) {
  const { input, caller, db, now } = call
  const change = changeIn(input)
  const { updateUsers = [] } = input
  if (!change && updateUsers.length === 0) {
    throw invalid('At least one of updatedData or updateUsers must be provided.')
  }
  const { user } = caller
  // First of all: a refusal that depends on what is stored would tell it to users without access.
  const visible = await requireAccess(call, input, 'write')
  refuseFields(user, input, ['updateUsers', 'triggerNotification'])
  if (change) {
    refuseFields(user, change, ['from', 'resolvedByUserId', 'statusUpdatedByUserId'], 'updatedData.')
    requirePrivateComments(caller, change.visibility)
    await checkUsers(call, change)
  }
  await ensureAuthors(
    db,
    caller.apiKey,
    updateUsers.map(({ newUser }) => newUser),
    now,
  )

  const { found, hasMore, ids } = await selectAnnotations(call, input, maxBatchItems, visible)
  if (hasMore) {
    throw invalid(`More than ${maxBatchItems} annotations match. Send annotationIds to change them in parts.`)
  }
  const commentBytes = found.reduce((sum, annotation) => sum + annotation.commentBytes, 0)
  if (updateUsers.length > 0 && commentBytes > maxReplacedBytes) {
    throw invalid(
      'The annotations have more than 8 MiB of comments. Send annotationIds to change them in parts.',
    )
  }
  if (found.length > 0) {
    const changes = await ThreadChanges.begin(call, input)
    for (const annotation of found) {
      await yieldIfLate()
      if (change?.visibility || change?.context) {
        requireAuthorship(user, annotation.authorId, 'change who sees an annotation')
      }
      const replaced =
        updateUsers.length > 0
          ? await replaceUsers(call, input.organizationId, annotation, updateUsers, changes)
          : annotation
      if (change) applyChange(call, replaced, change, range, changes)
    }
    await changes.save()
  }
  const updated = new Set(found.map(({ annotationId }) => annotationId))
  return outcomes(ids, (id) =>
    updated.has(id)
      ? { success: true, id, message: 'Annotations updated successfully' }
      : { success: false, id, message: 'Annotation not found.' },
  )
}

/** The users whom a change names must exist, except the author, who gets a profile. */
async function checkUsers(call: Call<Update>, change: CommentAnnotationChange) {
  const {
    db,
    caller: { apiKey },
    now,
  } = call
  const { from, assignedTo, visibility, resolvedByUserId, statusUpdatedByUserId } = change
  checkVisibility(visibility, 'updatedData.visibility')
  requireIdentity(change.location, 'updatedData.location')
  if (from) await ensureAuthors(db, apiKey, [from], now)
  const field = (name: string, userId: string | null | undefined): NamedUser[] =>
    userId == null ? [] : [{ userId, field: `updatedData.${name}` }]
  const named = [
    ...field('assignedTo', assignedTo?.userId),
    ...field('resolvedByUserId', resolvedByUserId),
    ...field('statusUpdatedByUserId', statusUpdatedByUserId),
    ...(visibility?.userIds ?? []).flatMap((userId) => field('visibility.userIds', userId)),
  ]
  requireExisting(
    await findExisting(
      call,
      call.input.organizationId,
      named.map(({ userId }) => userId),
    ),
    named,
  )
}

/** Applies the change to one annotation and records what happened to it. */
function applyChange(
  { input, caller: { user }, now }: Call<Update>,
  before: StoredAnnotation,
  change: CommentAnnotationChange,
  range: StoredRange | undefined,
  changes: ThreadChanges,
): void {
  const after: StoredAnnotation = { ...before, data: { ...before.data }, lastUpdated: now }
  const { location, targetElement, context, status, priority, visibility, from, assignedTo, pageInfo } =
    change
  if (location) {
    after.data.location = location
    const number = locationIdOf(location)
    after.locationId = number === undefined ? null : String(number)
  }
  if (targetElement) after.data.targetElement = targetElement
  if (pageInfo) after.data.pageInfo = pageInfo
  if (change.targetEditor === null) delete after.data.targetEditor
  else if (range) after.data.targetEditor = range
  if (from) after.authorId = from.userId
  if (assignedTo !== undefined) after.assigneeId = assignedTo?.userId ?? null
  if (priority === null) delete after.data.priority
  else if (priority) after.data.priority = priority
  applyStatus(after, change, status && completeStatus(status), user?.userId)
  applySuggestion(after, change)
  if (context) after.data.context = context
  if (visibility) after.data.visibility = visibility
  if (context || visibility || from) {
    const audience = audienceOf({
      visibility: after.data.visibility,
      context: after.data.context,
      authorId: after.authorId,
      organizationId: input.organizationId,
    })
    Object.assign(after, changedAudience(before, audience, changes.seq))
  }
  changes.put(after)
  if (after.assigneeId !== before.assigneeId) {
    changes.unassign(before)
    if (after.assigneeId !== null)
      changes.involve(after, [{ userId: after.assigneeId, involvement: 'assigned' }])
  }
  const actorId = user?.userId ?? change.statusUpdatedByUserId ?? change.resolvedByUserId ?? undefined
  const isNotified = notifies(user, input.triggerNotification)
  for (const { name, payload } of eventsOf(before, after)) {
    changes.record({ name, annotation: after, actorId, notifies: isNotified, payload })
  }
}

/** Only a type is required: the built-in status of that type fills what is missing (spec 19.3). */
function completeStatus(status: NonNullable<CommentAnnotationChange['status']>): Status {
  if (status.id === undefined) return builtInStatuses[status.type]
  if (status.name === undefined) throw invalid('updatedData.status.name is required.')
  return status as Status
}

/** Only a resolved annotation says who resolved it. */
function applyStatus(
  after: StoredAnnotation,
  change: CommentAnnotationChange,
  status: Status | undefined,
  userId: string | undefined,
): void {
  if (status) after.data.status = status
  const { resolvedByUserId = status && userId, statusUpdatedByUserId = status && userId } = change
  if (statusUpdatedByUserId === null) delete after.data.statusUpdatedByUserId
  else if (statusUpdatedByUserId !== undefined) after.data.statusUpdatedByUserId = statusUpdatedByUserId
  if (after.data.status.type !== 'terminal') after.resolvedBy = null
  else if (resolvedByUserId !== undefined) after.resolvedBy = resolvedByUserId
}

function applySuggestion(after: StoredAnnotation, { suggestion }: CommentAnnotationChange): void {
  if (!suggestion) return
  if (after.data.type !== 'suggestion')
    throw invalid('updatedData.suggestion is only for annotations of type suggestion.')
  const known = after.data.suggestion?.status ?? 'pending'
  const status = suggestion.status ?? known
  if (known !== 'pending' && status !== known) {
    throw new ApiError('FAILED_PRECONDITION', `The suggestion of ${after.annotationId} is already ${known}.`)
  }
  after.data.suggestion = { ...suggestion, status }
}

interface ChangeEvent {
  name: RecordedName
  payload: Record<string, unknown>
}

/** What happened to the annotation. A change that no other event describes is an update. */
function eventsOf(before: StoredAnnotation, after: StoredAnnotation): ChangeEvent[] {
  const isSame = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b)
  const found: ChangeEvent[] = []
  const compare = (name: RecordedName, from: unknown, to: unknown) => {
    if (!isSame(from, to)) found.push({ name, payload: { changes: { from: from ?? null, to: to ?? null } } })
  }
  compare('comment_annotation.assign', before.assigneeId, after.assigneeId)
  compare('comment_annotation.status_change', before.data.status, after.data.status)
  compare('comment_annotation.priority_change', before.data.priority, after.data.priority)
  compare('comment_annotation.access_mode_change', before.data.visibility, after.data.visibility)
  const suggestion = after.data.suggestion?.status
  if (suggestion !== before.data.suggestion?.status) {
    const name = suggestion === 'accepted' ? 'suggestion_accept' : 'suggestion_reject'
    found.push({ name: `comment_annotation.${name}`, payload: {} })
  }
  return found.length > 0 ? found : [{ name: 'comment_annotation.update', payload: {} }]
}
