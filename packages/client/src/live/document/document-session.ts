import { ApiError } from '@plenum/protocol/errors'
import {
  type AccessRole,
  closeCodes,
  type Position,
  type ServerMessage,
  type Topic,
} from '@plenum/protocol/realtime'
import { Listeners, type Unsubscribe } from '../../platform/listeners.ts'
import { Retry } from '../../platform/retry.ts'
import { checkContentType, checkDoc, checkId } from '../checks.ts'
import type { LiveEditor, LiveEditorOptions } from '../editor/editor.ts'
import type { EditorConnection, EditorDocument } from '../editor/editor-deps.ts'
import { EditorSession } from '../editor/editor-session.ts'
import { endingError } from '../errors.ts'
import { type PresenceDeps, PresenceList } from '../presence/presence-list.ts'
import type { LiveState } from '../state/live-state.ts'
import { LiveStates } from '../state/live-states.ts'
import type { UserOperations } from '../calls/socket-calls.ts'
import { ThreadList } from '../threads/thread-list.ts'
import { afterClose, closedAfter, detached, endingOf, failureOf, openId, type Phase } from '../phase.ts'
import { type Ending, isDenial, isFinal, type Status, statusAfter } from '../status.ts'
import type { LiveDocument, LiveDocumentOptions } from './document.ts'

type DocumentMessage = ServerMessage & {
  type: 'opened' | 'closed' | 'access' | 'presence' | 'liveState' | 'threads'
}

/** How often a denied document asks whether the user has access again: seldom, because most will not get it. */
const denialDelays = { firstMs: 1_000, maxMs: 60_000 }

/** What a document needs from its connection. */
export interface DocumentDeps extends PresenceDeps, EditorConnection {
  readonly isReady: boolean
  readonly userId: string | undefined
  readonly operations: UserOperations
  /** Why the connection is not `connected`. */
  readonly reason: ApiError | undefined
  /** Why the connection is `denied` or `failed`. */
  readonly ended: Ending | undefined
  /** Why the connection cannot come back. */
  readonly failure: ApiError | undefined
  reconnect(): void
  /** Returns a number that was never a ref before, so late messages to a ref that was freed reach no document. */
  newRef(document: DocumentSession): number
  freeRef(ref: number): void
  /** `isHandled`: the document or editor of the error has a listener for it. */
  reportError(error: ApiError, isHandled: boolean): void
  onDocumentClosed(document: DocumentSession): void
}

export class DocumentSession implements LiveDocument, EditorDocument {
  readonly organizationId: string
  readonly documentId: string
  /** The status that was reported last. */
  status: Status = 'connecting'
  accessRole: AccessRole | undefined
  readonly presence: PresenceList
  readonly threads: ThreadList
  readonly connection: DocumentDeps
  readonly #topics: Topic[]
  readonly #liveStates: LiveStates
  readonly #editors = new Map<string, EditorSession>()
  readonly #listeners = new Listeners<LiveDocument>()
  readonly #errors = new Listeners<ApiError>()
  readonly #retry = new Retry(() => this.open())
  readonly #denialRetry = new Retry(() => this.open(), denialDelays)
  #phase: Phase = detached
  /** Why the server closed the document, which will be opened again. */
  #closedReason: ApiError | undefined
  /** The reason that was reported last. */
  #reportedReason: ApiError | undefined
  /** Every attempt may be refused because of the same rate limit, so the limit is reported once. */
  #isRateLimitReported = false

  constructor(
    organizationId: string,
    documentId: string,
    options: LiveDocumentOptions,
    connection: DocumentDeps,
  ) {
    this.organizationId = organizationId
    this.documentId = documentId
    this.connection = connection
    this.#topics = [...(options.topics ?? ['presence', 'liveState'])]
    this.presence = new PresenceList((message) => {
      const ref = this.openRef
      if (ref !== undefined) connection.send({ ...message, ref })
    }, connection)
    this.threads = new ThreadList({
      organizationId,
      documentId,
      operations: connection.operations,
      onNeeded: () => this.#addTopic('comments'),
    })
    this.#liveStates = new LiveStates({
      failure: () => this.failure,
      request: (message, onOutcome) => {
        const ref = this.openRef
        if (ref === undefined) return false
        connection.request(
          (id) => ({ ...message, ref, id }),
          (outcome) => onOutcome(outcome instanceof ApiError ? outcome : (outcome.position as Position)),
        )
        return true
      },
      reportError: (error) => this.reportError(error),
    })
  }

  get openRef(): number | undefined {
    return openId(this.#phase)
  }

  get ended(): Ending | undefined {
    return endingOf(this.#phase, this.connection)
  }

  get reason(): ApiError | undefined {
    if (this.status === 'connected' || this.status === 'closed') return undefined
    return this.failure ?? this.connection.reason ?? this.#closedReason
  }

  get failure(): ApiError | undefined {
    return failureOf(this.#phase, this.connection, 'document')
  }

  get name(): string {
    return `${this.organizationId}/${this.documentId}`
  }

  liveState<T extends object>(liveStateDataId: string): LiveState<T> {
    checkId('liveStateDataId', liveStateDataId)
    return this.#liveStates.get(liveStateDataId) as unknown as LiveState<T>
  }

  editor(editorId: string, options: LiveEditorOptions = {}): LiveEditor {
    const known = this.#editors.get(editorId)
    if (known) return known
    checkId('editorId', editorId)
    checkContentType(options.type)
    checkDoc(options.doc)
    if (options.contentKey !== undefined) checkId('contentKey', options.contentKey)
    const editor = new EditorSession(editorId, options, this)
    this.#editors.set(editorId, editor)
    editor.open()
    return editor
  }

  subscribe(listener: (document: LiveDocument) => void): Unsubscribe {
    return this.#listeners.add(listener)
  }

  on(_event: 'error', listener: (error: ApiError) => void): Unsubscribe {
    return this.#errors.add(listener)
  }

  close(): void {
    if (this.#phase.name === 'closed') return
    this.#forEachEditor((editor) => editor.close())
    this.#leave()
    this.#phase = closedAfter(this.#phase)
    this.status = 'closed'
    this.#retry.cancel()
    this.#denialRetry.cancel()
    this.presence.close()
    this.threads.close()
    this.#liveStates.close(this.failure as ApiError)
    this.connection.onDocumentClosed(this)
    this.#listeners.emit(this)
    this.#listeners.clear()
    this.#errors.clear()
  }

  onEditorClosed(editorId: string): void {
    this.#editors.delete(editorId)
  }

  /** `isHandled`: the editor of the error has a listener for it. */
  reportError(error: ApiError, isHandled = false): void {
    const hasListeners = this.#errors.emit(error)
    this.connection.reportError(error, isHandled || hasListeners)
  }

  /** Emits an error that ended the document, on the document and on its editors. Returns whether there is a listener. */
  emitEnding(error: ApiError): boolean {
    if (this.failure !== error) return false
    const hasListeners = this.#errors.emit(error)
    return [...this.#editors.values()].filter((editor) => editor.emitEnding(error)).length > 0 || hasListeners
  }

  retry(): void {
    const phase = this.#phase
    if (phase.name === 'closed') return
    // Nothing is known of a document that is opened again after `failed`.
    if (phase.name === 'ended' && !isDenial(phase.ending)) {
      this.#phase = detached
      this.#changeStatus('reconnecting')
    }
    if (this.connection.isReady) this.open()
    else this.connection.reconnect()
  }

  /** The network is back, or the page is visible again: meanwhile the user may have got access. */
  wake(): void {
    if (this.#phase.name === 'ended') this.open()
  }

  /** Opens the document at the server, if the connection is ready. Asks again for a document that was denied. */
  open(): void {
    const phase = this.#phase
    const isDenied = phase.name === 'ended' && isDenial(phase.ending)
    if (!this.connection.isReady || (phase.name !== 'detached' && !isDenied)) return
    this.#retry.cancel()
    this.#denialRetry.cancel()
    const ref = this.connection.newRef(this)
    this.#phase = isDenied ? { ...phase, name: 'reopening', id: ref } : { name: 'opening', id: ref }
    const { organizationId, documentId } = this
    const since = this.#liveStates.position
    this.connection.send({
      type: 'open',
      ref,
      organizationId,
      documentId,
      topics: this.#topics,
      ...(since && { since }),
    })
  }

  receive(message: DocumentMessage): void {
    switch (message.type) {
      case 'opened':
        return this.#onOpened(message)
      case 'closed':
        return this.#onClosed(message)
      case 'access':
        return this.#changeRole(message.accessRole)
      case 'presence':
        return this.presence.applyChanges(message.users, message.left)
      case 'liveState':
        if (!this.#liveStates.applyChanges(message)) this.#reopen()
        return
      case 'threads':
        return this.#onThreads(message)
    }
  }

  /** Ends the document, while the connection stays open. */
  end(ending: Ending): void {
    const error = endingError(ending, this.name)
    const isStillDenied = this.#phase.name === 'reopening' && isDenial(ending)
    this.#detach()
    // A listener that was called meanwhile may have closed the document.
    if (this.#phase.name !== 'closed') {
      this.#phase = { name: 'ended', ending, error }
      if (isDenial(ending)) this.#denialRetry.schedule()
      else this.#denialRetry.reset()
      this.#becomeEnded(statusAfter(ending))
    }
    if (!isStillDenied) this.connection.reportError(error, this.emitEnding(error))
  }

  onConnectionLost(): void {
    this.#detach()
    if (this.status === 'connected') this.#changeStatus('reconnecting')
  }

  /** A document ends when its connection ends, and comes back with the connection, unless the document had ended before. */
  onConnectionStatus(status: Status): void {
    // It has ended by itself, or the application has closed it.
    if ('ending' in this.#phase) return
    if (status === 'denied' || status === 'failed') this.#becomeEnded(status)
    else if (this.status === 'denied' || this.status === 'failed') this.#changeStatus('reconnecting')
    else this.#reportReason()
  }

  onPageShown(isShown: boolean): void {
    this.#forEachEditor((editor) => editor.onPageShown(isShown))
  }

  #onOpened(message: DocumentMessage & { type: 'opened' }): void {
    const { ref, accessRole, position, reset, presence, liveStates, threads } = message
    this.#phase = { name: 'open', id: ref }
    this.#isRateLimitReported = false
    this.#closedReason = undefined
    this.#retry.markSuccess()
    this.#denialRetry.markSuccess()
    this.accessRole = accessRole
    this.#liveStates.onOpened(position, reset, liveStates ?? [])
    this.presence.onOpened(presence)
    this.threads.onOpened(threads)
    // A listener may have closed the document.
    if (this.openRef === undefined) return
    // Reported even if the status was `connected` before, because the role may have changed.
    this.status = 'connected'
    this.#emitState()
    this.#forEachEditor((editor) => editor.open())
  }

  #onClosed({ code, reason }: Ending): void {
    const ending = { code, reason }
    if (isFinal(ending)) return this.end(ending)
    const wasDenied = this.#phase.name === 'reopening'
    this.#detach()
    if (wasDenied) return this.#denialRetry.schedule()
    this.#closedReason = endingError(ending, this.name)
    this.#changeStatus('reconnecting')
    if (this.#phase.name === 'detached') this.#retry.schedule()
    if (code === closeCodes.rateLimited) this.#reportRateLimit(ending)
  }

  #reportRateLimit(ending: Ending): void {
    if (this.#isRateLimitReported) return
    this.#isRateLimitReported = true
    this.reportError(endingError(ending, this.name))
  }

  #onThreads(message: DocumentMessage & { type: 'threads' }): void {
    const { position } = message
    this.threads.receive(message)
    // Without a position, a message about live states follows.
    if (position && !this.#liveStates.applyChanges({ position, states: [] })) this.#reopen()
  }

  /** Subscribes to a further topic. An open document is opened again, because the topics are part of the opening. */
  #addTopic(topic: Topic): void {
    if (this.#topics.includes(topic)) return
    this.#topics.push(topic)
    if (!('id' in this.#phase)) return
    this.#leave()
    this.open()
  }

  /** Opens the document without its position. Another epoch means another document under the same ids. */
  #reopen(): void {
    this.#leave()
    this.#liveStates.dropPosition()
    this.open()
  }

  #becomeEnded(status: 'denied' | 'failed'): void {
    this.#retry.cancel()
    this.presence.clear()
    this.#changeStatus(status)
    this.#liveStates.rejectAll(this.failure as ApiError)
  }

  #leave(): void {
    if ('id' in this.#phase) this.connection.send({ type: 'close', ref: this.#phase.id })
    this.#detach()
  }

  /** The document is not open at the server any more. */
  #detach(): void {
    const phase = this.#phase
    if ('id' in phase) {
      this.connection.freeRef(phase.id)
      this.#phase = afterClose(phase)
    }
    this.#liveStates.onLost()
    this.#forEachEditor((editor) => editor.onDocumentLost())
  }

  #changeRole(accessRole: AccessRole): void {
    this.accessRole = accessRole
    this.#forEachEditor((editor) => editor.onRoleChange(accessRole))
    this.#listeners.emit(this)
  }

  /** Does nothing after a listener has closed the document. */
  #changeStatus(status: Status): void {
    if (this.#phase.name === 'closed') return
    if (this.status === status) return this.#reportReason()
    this.status = status
    this.#emitState()
  }

  #reportReason(): void {
    if (this.#reportedReason?.message !== this.reason?.message) this.#emitState()
  }

  #emitState(): void {
    this.#reportedReason = this.reason
    this.threads.setProblem(this.reason, this.failure !== undefined)
    this.#listeners.emit(this)
    this.#forEachEditor((editor) => editor.onDocumentStatus())
  }

  #forEachEditor(visit: (editor: EditorSession) => void): void {
    for (const editor of this.#editors.values()) visit(editor)
  }
}
