import { currentPage } from '../../platform/current-page.ts'
import { ApiError } from '@plenum/protocol/errors'
import type { ThreadChanges } from '@plenum/protocol/realtime'
import type { CommentAnnotationChange } from '../../operations/index.ts'
import type { Unsubscribe } from '../../platform/listeners.ts'
import type { UserOperations } from '../calls/socket-calls.ts'
import { LoadedList } from '../loaded-list.ts'
import {
  type NewComment,
  type NewThread,
  type Thread,
  type Threads,
  type ThreadsState,
  unloadedThreads,
} from './threads.ts'

interface ThreadListDeps {
  organizationId: string
  documentId: string
  operations: UserOperations
  userId(): string | undefined
  /**
   * Subscribes to changes of threads at the server. Called with the first subscriber. Returns whether the document was open
   * before: then the server sends only later changes, and the threads must be loaded.
   */
  onNeeded(): boolean
}

/** Threads that are loaded at once. */
const pageSize = 50

export class ThreadList extends LoadedList<ThreadsState> implements Threads {
  readonly #deps: ThreadListDeps
  readonly #byId = new Map<string, Thread>()
  #nextPageToken: string | undefined
  /** The number of the latest load. The results of earlier loads are ignored. */
  #lastLoad = 0
  /** Threads that changed or were removed while a load runs: what is loaded may be older. */
  #changedWhileLoading: Map<string, Thread | undefined> | undefined
  /** Whether somebody uses the threads. Until then nothing is loaded. */
  isNeeded = false

  constructor(deps: ThreadListDeps) {
    super(unloadedThreads)
    this.#deps = deps
  }

  get threads(): readonly Thread[] {
    return this.state.threads
  }

  subscribe(listener: (threads: Threads) => void): Unsubscribe {
    const unsubscribe = this.listeners.add(listener)
    if (!this.isNeeded) {
      this.isNeeded = true
      if (this.#deps.onNeeded()) void this.#load(undefined)
    }
    return unsubscribe
  }

  async loadMore(): Promise<void> {
    if (this.#nextPageToken !== undefined) await this.#load(this.#nextPageToken)
  }

  async add({
    commentText,
    commentHtml,
    taggedUserContacts,
    attachments,
    ...thread
  }: NewThread): Promise<string> {
    const comment = defined({ commentText, commentHtml, taggedUserContacts, attachments })
    const { pageInfo = currentPage() } = thread
    const { data } = await this.#deps.operations.commentAnnotations.add({
      ...this.#document,
      commentAnnotations: [{ ...thread, ...(pageInfo && { pageInfo }), commentData: [comment] }],
    })
    return Object.keys(data)[0] as string
  }

  async reply(annotationId: string, comment: NewComment): Promise<number> {
    const { data } = await this.#deps.operations.comments.add({
      ...this.#document,
      annotationId,
      commentData: [comment],
    })
    return data[0] as number
  }

  async edit(annotationId: string, commentId: number, comment: NewComment): Promise<void> {
    const input = { ...this.#document, annotationId, commentIds: [commentId], updatedData: comment }
    const { data } = await this.#deps.operations.comments.update(input)
    requireSuccess(data)
  }

  async deleteComment(annotationId: string, commentId: number): Promise<void> {
    const input = { ...this.#document, annotationId, commentIds: [commentId] }
    const { data } = await this.#deps.operations.comments.delete(input)
    requireSuccess(data)
  }

  async delete(annotationId: string): Promise<void> {
    const input = { ...this.#document, annotationIds: [annotationId] }
    const { data } = await this.#deps.operations.commentAnnotations.delete(input)
    requireSuccess(data)
  }

  async update(annotationId: string, change: CommentAnnotationChange): Promise<void> {
    const input = { ...this.#document, annotationIds: [annotationId], updatedData: change }
    const { data } = await this.#deps.operations.commentAnnotations.update(input)
    requireSuccess(data)
  }

  resolve(annotationId: string): Promise<void> {
    return this.update(annotationId, { status: { type: 'terminal' } })
  }

  reopen(annotationId: string): Promise<void> {
    return this.update(annotationId, { status: { type: 'default' } })
  }

  async react(annotationId: string, commentId: number, icon: string): Promise<void> {
    await this.#deps.operations.comments.addReaction({ ...this.#document, annotationId, commentId, icon })
  }

  async removeReaction(annotationId: string, commentId: number, icon: string): Promise<void> {
    await this.#deps.operations.comments.deleteReaction({ ...this.#document, annotationId, commentId, icon })
  }

  async markViewed(...annotationIds: string[]): Promise<void> {
    await this.#deps.operations.commentAnnotations.markViewed({ ...this.#document, annotationIds })
    for (const id of annotationIds) {
      const thread = this.#byId.get(id)
      if (thread) this.#byId.set(id, { ...thread, unread: false })
    }
    this.#publishSorted({})
  }

  get #document(): { organizationId: string; documentId: string } {
    const { organizationId, documentId } = this.#deps
    return { organizationId, documentId }
  }

  /** Applies what the server sent. */
  receive({ reset, changed, removed, large }: ThreadChanges): void {
    if (reset) return void this.#load(undefined)
    for (const thread of changed as unknown as Thread[])
      this.#apply(thread.annotationId, this.#withUnread(thread))
    for (const id of removed) this.#apply(id, undefined)
    if (large.length > 0) void this.#loadByIds(large)
    this.#publishSorted({})
  }

  close(): void {
    this.#lastLoad++
    this.listeners.clear()
  }

  #apply(id: string, thread: Thread | undefined): void {
    this.#changedWhileLoading?.set(id, thread)
    if (thread) this.#byId.set(id, thread)
    else this.#byId.delete(id)
  }

  /** A broadcast thread does not say whether it is unread, because it is the same for all users. */
  #withUnread(thread: Thread): Thread {
    const before = this.#byId.get(thread.annotationId)
    const last = thread.comments.at(-1)
    const isNew = last !== undefined && last.commentId !== before?.comments.at(-1)?.commentId
    const isOwn = last?.from.userId === this.#deps.userId()
    return { ...thread, unread: isNew ? !isOwn : (before?.unread ?? false) }
  }

  async #load(pageToken: string | undefined): Promise<void> {
    const load = ++this.#lastLoad
    const changed = new Map<string, Thread | undefined>()
    this.#changedWhileLoading = changed
    try {
      const { data, nextPageToken } = await this.#deps.operations.commentAnnotations.get({
        ...this.#document,
        pageSize,
        ...(pageToken !== undefined && { pageToken }),
      })
      if (load !== this.#lastLoad) return
      this.#nextPageToken = nextPageToken
      if (pageToken === undefined) this.#byId.clear()
      for (const thread of data as Thread[]) this.#byId.set(thread.annotationId, thread)
      for (const [id, thread] of changed) this.#apply(id, thread)
      this.#publishSorted({ isLoading: false, hasMore: nextPageToken !== undefined, error: undefined })
    } catch (error) {
      if (load === this.#lastLoad) this.#publishSorted({ isLoading: false, error: error as ApiError })
    } finally {
      if (this.#changedWhileLoading === changed) this.#changedWhileLoading = undefined
    }
  }

  async #loadByIds(annotationIds: string[]): Promise<void> {
    try {
      const { data } = await this.#deps.operations.commentAnnotations.get({
        ...this.#document,
        annotationIds,
      })
      for (const thread of data as (Thread | null)[]) if (thread) this.#apply(thread.annotationId, thread)
      this.#publishSorted({})
    } catch (error) {
      this.#publishSorted({ error: error as ApiError })
    }
  }

  #publishSorted(change: Partial<ThreadsState>): void {
    const threads = [...this.#byId.values()].sort(
      (a, b) => Number(b.lastUpdated) - Number(a.lastUpdated) || b.annotationNumber - a.annotationNumber,
    )
    this.publish({ ...change, threads })
  }
}

const defined = <T extends object>(value: T): T =>
  Object.fromEntries(Object.entries(value).filter(([, one]) => one !== undefined)) as T

/** A batch of one answers whether its item succeeded. */
function requireSuccess(outcomes: Record<string, { success: boolean; message: string }>): void {
  const failed = Object.values(outcomes).find(({ success }) => !success)
  if (failed) throw new ApiError('NOT_FOUND', failed.message)
}
