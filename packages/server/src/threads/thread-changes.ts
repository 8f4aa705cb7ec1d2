import { ApiError, type RecordedName } from '@plenum/protocol'
import { newId } from '../access/ids.ts'
import type { Signal } from '../bus.ts'
import type { AnnotationEvent } from '../events/consumer.ts'
import { publishEvents } from '../events/consumers.ts'
import { yieldIfLate } from '../platform/turns/loop-time.ts'
import type { ApiKey } from '../store/api-keys.ts'
import type { StoredAnnotation, StoredComment } from '../store/comments/annotation.ts'
import * as annotations from '../store/comments/annotations.ts'
import { withoutFormer } from '../store/comments/audience.ts'
import * as comments from '../store/comments/comments.ts'
import { removeNotificationsAbout } from '../store/deletions/annotation-notifications.ts'
import type { Db } from '../store/engine/db.ts'
import { paceOf } from '../store/engine/pace.ts'
import * as events from '../store/events.ts'
import type { DocumentRef } from '../store/refs.ts'

export interface ThreadServices {
  /** Makes the job runner look for jobs of the API key. */
  readonly wakeJobs: (apiKey: string, lane?: string) => void
  /** Makes the server go on with large deletions. */
  readonly resumeDeletions: () => void
}

/** What changes of annotations need: a call of an operation has it, and a job. */
export interface ThreadContext {
  /** `user`: the calling user, if a user calls. */
  readonly caller: ApiKey & { readonly user?: object | undefined }
  readonly db: Db
  readonly now: number
  readonly services: ThreadServices
  /** Notifies open sessions once the transaction is durable. */
  readonly signal: (message: Signal) => void
  /** Runs the work once the transaction is durable. */
  readonly afterCommit: (work: () => void) => void
}

interface EventInput {
  name: RecordedName
  annotation: StoredAnnotation
  actorId?: string | undefined
  notifies: boolean
  /** Whether a backend asked to record the event as an activity. What users cause is always recorded. */
  triggerActivities?: boolean | undefined
  /** The comment that the event is about. */
  comment?: StoredComment
  payload?: Record<string, unknown>
}

type RecordedEvent = Omit<AnnotationEvent, 'isAnnotationDeleted'>

/** What is written without a pause: on SQLite this takes 1 to 5 ms. */
const rowsPerSlice = 50
const bytesPerSlice = 128 * 1024

/**
 * The changes that one call makes to the annotations of a document. They get one number, their events are written in the same
 * transaction, and open sessions of the document learn of them after the commit.
 */
export class ThreadChanges {
  readonly #context: ThreadContext
  readonly #document: DocumentRef
  /** The number of the change in the document. */
  readonly seq: number
  #nextNumber: number
  readonly #annotations = new Map<number, StoredAnnotation>()
  readonly #comments: comments.CommentIn[] = []
  readonly #involved = new Map<string, comments.NewlyInvolved>()
  readonly #unassigned: StoredAnnotation[] = []
  readonly #removed: StoredAnnotation[] = []
  readonly #events: RecordedEvent[] = []
  /** The first event about each annotation, which has its summary. */
  readonly #firstAbout = new Map<StoredAnnotation, RecordedEvent>()

  private constructor(context: ThreadContext, document: DocumentRef, seq: number, firstNumber: number) {
    this.#context = context
    this.#document = document
    this.seq = seq
    this.#nextNumber = firstNumber
  }

  /** Numbers the change. Throws if the document does not exist. */
  static async begin(
    context: ThreadContext,
    document: DocumentRef,
    newAnnotations = 0,
  ): Promise<ThreadChanges> {
    const { organizationId, documentId } = document
    const numbered = await annotations.numberChange(
      context.db,
      context.caller.apiKey,
      document,
      newAnnotations,
    )
    if (!numbered) throw new ApiError('INVALID_ARGUMENT', 'Document does not exist.')
    return new ThreadChanges(
      context,
      { organizationId, documentId },
      numbered.position.seq,
      numbered.firstNumber,
    )
  }

  /** The number of the next new annotation. */
  takeNumber(): number {
    return this.#nextNumber++
  }

  put(annotation: StoredAnnotation): void {
    this.#annotations.set(annotation.number, { ...annotation, seq: this.seq })
  }

  putComment({ number }: StoredAnnotation, comment: StoredComment): void {
    this.#comments.push({ documentId: this.#document.documentId, number, comment })
  }

  involve({ number }: StoredAnnotation, users: readonly comments.InvolvedUser[]): void {
    const { documentId } = this.#document
    for (const { userId, involvement } of users) {
      const user = { documentId, number, userId, involvement }
      this.#involved.set(`${number} ${involvement} ${userId}`, user)
    }
  }

  /** Removes the involvement of the assigned user. */
  unassign(annotation: StoredAnnotation): void {
    this.#unassigned.push(annotation)
  }

  remove(annotation: StoredAnnotation): void {
    this.#annotations.delete(annotation.number)
    this.#removed.push(annotation)
  }

  record({
    name,
    annotation,
    actorId,
    notifies,
    triggerActivities,
    comment,
    payload = {},
  }: EventInput): void {
    const { annotationId, audience } = annotation
    const isByUser = this.#context.caller.user !== undefined
    // The payload may already have less than the summary.
    const first = payload.annotation ? undefined : this.#firstAbout.get(annotation)
    if (first) first.snapshotId ??= newId('snap')
    const told = payload.annotation as AnnotationEvent['annotation'] | undefined
    const summary = first?.annotation ?? told ?? summaryOf(annotation)
    const event: RecordedEvent = {
      name,
      ...this.#document,
      annotationId,
      actorId,
      audience: withoutFormer(audience),
      notifies,
      payload: {
        annotation: first ? { annotationId, annotationNumber: annotation.number } : summary,
        ...(comment && { comment: commentSummary(comment) }),
        ...payload,
      },
      snapshotId: first?.snapshotId,
      annotation: summary,
      seq: this.seq,
      commentId: comment?.commentId,
      platform: isByUser ? 'sdk' : 'rest',
      isActivity: isByUser || triggerActivities === true,
    }
    this.#events.push(event)
    if (!told && !first) this.#firstAbout.set(annotation, event)
  }

  /** Writes everything. */
  async save(): Promise<void> {
    const { db, caller, now, signal, afterCommit, services } = this.#context
    const { apiKey } = caller
    const { organizationId, documentId } = this.#document
    await inSlices([...this.#annotations.values()], (some) =>
      annotations.put(db, apiKey, organizationId, some),
    )
    await inSlices(this.#comments, (some) => comments.put(db, apiKey, organizationId, some))
    await inSlices(this.#unassigned, (some) => comments.unassign(db, apiKey, organizationId, some))
    await this.#saveInvolved()
    await annotations.remove(db, apiKey, organizationId, this.#removed, this.seq)
    const isInboxChanged = (await this.#removeNotifications()) || this.#isAudienceChanged
    const removed = new Set(this.#removed.map(({ annotationId }) => annotationId))
    const write = async (some: readonly RecordedEvent[]) => {
      await events.add(db, apiKey, some, now)
      const withState = some.map((event) => ({
        ...event,
        isAnnotationDeleted: removed.has(event.annotationId),
      }))
      const wakeJobs = (lane?: string) => afterCommit(() => services.wakeJobs(apiKey, lane))
      await publishEvents({ db, key: caller, now, wakeJobs }, withState)
    }
    await inSlices(this.#events, write, { sizedBy: ({ payload }) => payload })
    signal({ kind: 'threads', organizationId, documentId, seq: this.seq })
    if (isInboxChanged) signal({ kind: 'inbox', organizationId })
  }

  /** Whether other users than before see an annotation, and so the notifications about it. */
  get #isAudienceChanged(): boolean {
    return [...this.#annotations.values()].some(
      ({ audienceSeq, createdSeq }) => audienceSeq === this.seq && createdSeq !== this.seq,
    )
  }

  async #saveInvolved(): Promise<void> {
    const { db, caller } = this.#context
    const { apiKey } = caller
    const { organizationId } = this.#document
    const involved = [...this.#involved.values()]
    // One call may add thousands, and on PostgreSQL each statement is a round trip.
    const max = rowsPerSlice * paceOf(db).factor
    await inSlices(involved, (some) => comments.involve(db, apiKey, organizationId, some), { max })
    // A new annotation has no users but these.
    const isNew = ({ number }: comments.NewlyInvolved) =>
      this.#annotations.get(number)?.createdSeq === this.seq
    comments.checkNewlyInvolved(involved.filter(isNew))
    const others = involved.filter((one) => !isNew(one))
    const refs = [...new Map(others.map((one) => [one.number, one])).values()]
    await inSlices(refs, (some) => comments.checkInvolved(db, apiKey, organizationId, some))
  }

  /** Returns false if there are no notifications about removed annotations. */
  async #removeNotifications(): Promise<boolean> {
    const annotationIds = this.#removed.map(({ annotationId }) => annotationId)
    if (annotationIds.length === 0) return false
    const { db, caller, now, afterCommit, services } = this.#context
    const { organizationId, documentId } = this.#document
    return removeNotificationsAbout(
      db,
      caller.apiKey,
      organizationId,
      { documentId, annotationIds },
      { deletionId: newId('del'), now, onHidden: () => afterCommit(services.resumeDeletions) },
    )
  }
}

/** What an event says about a comment. */
const commentSummary = ({ commentId, authorId, content, createdAt, lastUpdated }: StoredComment) => ({
  commentId,
  from: { userId: authorId },
  ...content,
  createdAt,
  lastUpdated,
})
export type CommentSummary = ReturnType<typeof commentSummary>

/** What an event says about its annotation. */
const summaryOf = (annotation: StoredAnnotation) => {
  const { annotationId, number, authorId, assigneeId, resolvedBy, data, createdAt, lastUpdated } = annotation
  return {
    annotationId,
    annotationNumber: number,
    from: { userId: authorId },
    ...(assigneeId !== null && { assignedTo: { userId: assigneeId } }),
    ...(resolvedBy !== null && { resolvedByUserId: resolvedBy }),
    ...data,
    createdAt,
    lastUpdated,
  }
}
export type AnnotationSummary = ReturnType<typeof summaryOf>

/** `sizedBy`: the part of an item that takes the most space. */
async function inSlices<T>(
  items: readonly T[],
  write: (some: readonly T[]) => Promise<void>,
  { max = rowsPerSlice, sizedBy = (item: T): unknown => item } = {},
): Promise<void> {
  let slice: T[] = []
  let bytes = 0
  for (const item of items) {
    const size = items.length === 1 ? 0 : JSON.stringify(sizedBy(item)).length
    if (slice.length === max || (slice.length > 0 && bytes + size > bytesPerSlice)) {
      await yieldIfLate()
      await write(slice)
      slice = []
      bytes = 0
    }
    slice.push(item)
    bytes += size
  }
  if (slice.length === 0) return
  await yieldIfLate()
  await write(slice)
}
