import { currentPage } from '../../platform/current-page.ts'
import { ApiError } from '@plenum/protocol/errors'
import type { ThreadChanges } from '@plenum/protocol/realtime'
import type { CommentAnnotationChange } from '../../operations/index.ts'
import type { Unsubscribe } from '../../platform/listeners.ts'
import type { UserOperations } from '../calls/socket-calls.ts'
import { LoadedList } from '../loaded-list.ts'
import { readPages } from '../pages.ts'
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
  /** Subscribes to changes of threads at the server. Called with the first subscriber. */
  onNeeded(): void
}

/** Servers of earlier versions do not say what is unread. */
type ReceivedChanges = Omit<ThreadChanges, 'unread' | 'viewed'> &
  Partial<Pick<ThreadChanges, 'unread' | 'viewed'>>

/** What the server has sent while threads were loaded, which may be older. */
interface Meanwhile {
  /** Threads that changed. Undefined: the thread was removed. */
  changed: Map<string, Thread | undefined>
  viewed: Set<string>
}

/** Threads that are loaded at once. */
const pageSize = 50

/**
 * What the client has comes from two sources: from calls, and from the feed of the document. The feed tells every later change
 * in order, so it is right where both say something.
 */

export class ThreadList extends LoadedList<ThreadsState> implements Threads {
  readonly #deps: ThreadListDeps
  #byId = new Map<string, Thread>()
  #nextPageToken: string | undefined
  #loadedPages = 0
  #wantedPages = 1
  /** Whether all pages must be loaded again. */
  #isStale = true
  /** Threads that must be loaded again. */
  #staleIds = new Set<string>()
  /** Set while threads are loaded. */
  #meanwhile: Meanwhile | undefined
  #isNeeded = false

  constructor(deps: ThreadListDeps) {
    super(unloadedThreads)
    this.#deps = deps
  }

  get threads(): readonly Thread[] {
    return this.state.threads
  }

  subscribe(listener: (threads: Threads) => void): Unsubscribe {
    const unsubscribe = this.listeners.add(listener)
    if (!this.#isNeeded) {
      this.#isNeeded = true
      this.#deps.onNeeded()
    }
    return unsubscribe
  }

  get hasMore(): boolean {
    return this.state.hasMore
  }

  async loadMore(): Promise<void> {
    if (!this.state.hasMore) return
    this.#wantedPages = this.#loadedPages + 1
    await this.reload(true)
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
    const before = annotationIds.map((id) => this.#byId.get(id))
    await this.#deps.operations.commentAnnotations.markViewed({ ...this.#document, annotationIds })
    // The user may have seen nothing of a thread that changed meanwhile. The server says what holds for it.
    for (const [index, id] of annotationIds.entries())
      if (this.#byId.get(id) === before[index]) this.#markViewed(id)
    this.#publishSorted()
  }

  get #document(): { organizationId: string; documentId: string } {
    const { organizationId, documentId } = this.#deps
    return { organizationId, documentId }
  }

  /** The document is open at the server. `changes`: what changed since it was open last, if the client has subscribed. */
  onOpened(changes: ThreadChanges | undefined): void {
    if (!changes) return
    // Views are not numbered, so the server does not know which of them the client has missed.
    for (const [id, { unread }] of this.#byId) if (unread) this.#staleIds.add(id)
    this.receive(changes)
  }

  /** Applies what the server sent. */
  receive({ reset, changed, removed, large, unread = [], viewed = [] }: ReceivedChanges): void {
    if (reset) this.#isStale = true
    for (const thread of changed as unknown as Thread[]) {
      const { annotationId } = thread
      this.#apply(annotationId, { ...thread, unread: unread.includes(annotationId) })
    }
    for (const id of removed) this.#apply(id, undefined)
    for (const id of viewed) this.#markViewed(id)
    for (const id of large) this.#staleIds.add(id)
    this.#publishSorted()
    if (this.#isIncomplete) void this.reload()
  }

  get #isIncomplete(): boolean {
    const lacksPages = this.#wantedPages > this.#loadedPages && this.#nextPageToken !== undefined
    return this.#isStale || this.#staleIds.size > 0 || lacksPages
  }

  close(): void {
    this.stopLoading()
    this.listeners.clear()
  }

  #apply(id: string, thread: Thread | undefined): void {
    this.#staleIds.delete(id)
    this.#meanwhile?.viewed.delete(id)
    this.#meanwhile?.changed.set(id, thread)
    this.#set(id, thread)
  }

  #set(id: string, thread: Thread | undefined): void {
    if (thread) this.#byId.set(id, thread)
    else this.#byId.delete(id)
  }

  #markViewed(id: string): void {
    this.#meanwhile?.viewed.add(id)
    const thread = this.#byId.get(id)
    if (thread?.unread) this.#byId.set(id, { ...thread, unread: false })
  }

  protected async load(): Promise<Partial<ThreadsState>> {
    const meanwhile: Meanwhile = { changed: new Map(), viewed: new Set() }
    this.#meanwhile = meanwhile
    const wasStale = this.#isStale
    const ids = [...this.#staleIds]
    this.#isStale = false
    this.#staleIds = new Set()
    try {
      const loaded = new Map<string, Thread | undefined>()
      // Threads that changed are among the loaded ones, or are not shown any more.
      if (!wasStale) await this.#loadByIds(ids, loaded)
      await this.#loadPages(wasStale, loaded)
      if (wasStale) this.#byId = new Map()
      this.#meanwhile = undefined
      for (const [id, thread] of [...loaded, ...meanwhile.changed]) this.#set(id, thread)
      for (const id of meanwhile.viewed) this.#markViewed(id)
      return { threads: this.#sorted(), hasMore: this.#nextPageToken !== undefined }
    } catch (error) {
      this.#isStale ||= wasStale
      for (const id of ids) this.#staleIds.add(id)
      throw error
    } finally {
      this.#meanwhile = undefined
    }
  }

  async #loadPages(fromStart: boolean, loaded: Map<string, Thread | undefined>): Promise<void> {
    const readPage = async (page: { pageSize: number; pageToken?: string }) => {
      const answer = await this.#get(page)
      return { ...answer, data: answer.data as Thread[] }
    }
    let pages = fromStart ? 0 : this.#loadedPages
    let pageToken = fromStart ? undefined : this.#nextPageToken
    while (pages < this.#wantedPages && (pages === 0 || pageToken !== undefined)) {
      const { data, nextPageToken } = await readPages(pageSize, readPage, pageToken)
      for (const thread of data) loaded.set(thread.annotationId, thread)
      pageToken = nextPageToken
      pages++
    }
    this.#loadedPages = pages
    this.#nextPageToken = pageToken
  }

  async #loadByIds(ids: readonly string[], loaded: Map<string, Thread | undefined>): Promise<void> {
    for (let from = 0; from < ids.length; from += pageSize) {
      const annotationIds = ids.slice(from, from + pageSize)
      const { data } = await this.#get({ annotationIds })
      const threads = data as readonly (Thread | null)[]
      for (const [index, id] of annotationIds.entries()) loaded.set(id, threads[index] ?? undefined)
    }
  }

  #get(input: { annotationIds: string[] } | { pageSize: number; pageToken?: string }) {
    return this.#deps.operations.commentAnnotations.get({ ...this.#document, ...input })
  }

  #publishSorted(): void {
    this.publish({ threads: this.#sorted() })
  }

  #sorted(): Thread[] {
    return [...this.#byId.values()].sort(
      (a, b) => Number(b.lastUpdated) - Number(a.lastUpdated) || b.annotationNumber - a.annotationNumber,
    )
  }
}

const defined = <T extends object>(value: T): T =>
  Object.fromEntries(Object.entries(value).filter(([, one]) => one !== undefined)) as T

/** A batch of one answers whether its item succeeded. */
function requireSuccess(outcomes: Record<string, { success: boolean; message: string }>): void {
  const failed = Object.values(outcomes).find(({ success }) => !success)
  if (failed) throw new ApiError('NOT_FOUND', failed.message)
}
