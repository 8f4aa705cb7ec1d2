import { ApiError } from '@plenum/protocol/errors'
import {
  type AccessRole,
  type ClientMessage,
  closeCodes,
  type Position,
  type ServerMessage,
  type Topic,
} from '@plenum/protocol/realtime'
import { checkContentType, checkDoc, checkId } from '../checks.ts'
import type { LiveDocumentOptions, LiveDocument } from './document.ts'
import type { LiveEditor, LiveEditorOptions } from '../editor/editor.ts'
import { EditorSession } from '../editor/editor-session.ts'
import { errorOf } from '../explain.ts'
import { Listeners, type Unsubscribe } from '../../platform/listeners.ts'
import type { LiveState } from '../state/live-state.ts'
import { LiveStates } from '../state/live-states.ts'
import { type PresenceHost, PresenceList } from '../presence/presence.ts'
import { Retry } from '../../platform/retry.ts'
import { type Ending, isFinal, type Status, statusAfter } from '../status.ts'

type DocumentMessage = ServerMessage & {
  type: 'opened' | 'closed' | 'access' | 'presence' | 'liveState'
}

type Done = ServerMessage & { type: 'done' }

/** What a document needs of its connection. */
export interface DocumentHost extends PresenceHost {
  readonly isReady: boolean
  /** Why the connection is `denied` or `failed`. */
  readonly ended: Ending | undefined
  /** Why the connection will not come back. */
  readonly failure: ApiError | undefined
  send(message: ClientMessage): void
  sendBytes(bytes: Uint8Array<ArrayBuffer>): void
  /** Never given twice: what the server still sends for an earlier opening finds nobody. */
  newRef(document: DocumentSession): number
  freeRef(ref: number): void
  newChannel(editor: EditorSession): number
  freeChannel(channel: number): void
  request(message: (id: number) => ClientMessage, answer: (outcome: Done | ApiError) => void): void
  /** `isHandled`: somebody listens to the errors of the document or editor that it concerns. */
  error(error: ApiError, isHandled: boolean): void
  closed(document: DocumentSession): void
}

export class DocumentSession implements LiveDocument {
  readonly organizationId: string
  readonly documentId: string
  status: Status = 'connecting'
  accessRole: AccessRole | undefined
  readonly presence: PresenceList
  readonly host: DocumentHost
  /** While it is open at the server. */
  ref: number | undefined
  readonly #topics: Topic[]
  readonly #liveStates: LiveStates
  readonly #editors = new Map<string, EditorSession>()
  readonly #listeners = new Listeners<LiveDocument>()
  readonly #errors = new Listeners<ApiError>()
  readonly #retry = new Retry(() => this.open())
  #isOpen = false
  /** The document alone; the connection may be well. */
  #ended: Ending | undefined
  /** Explains `#ended`. */
  #endError: ApiError | undefined
  /** The user was told of the rate limit. Each further attempt may be refused for the same reason. */
  #isLimitReported = false

  constructor(organizationId: string, documentId: string, options: LiveDocumentOptions, host: DocumentHost) {
    this.organizationId = organizationId
    this.documentId = documentId
    this.host = host
    this.#topics = options.topics ?? ['presence', 'liveState']
    this.presence = new PresenceList(
      (message) => this.#isOpen && host.send({ ...message, ref: this.ref as number }),
      host,
    )
    this.#liveStates = new LiveStates({
      failure: () => this.failure,
      request: (message, answer) => {
        const { ref } = this
        if (!this.#isOpen || ref === undefined) return false
        host.request(
          (id) => ({ ...message, ref, id }),
          (outcome) => answer(outcome instanceof ApiError ? outcome : (outcome.position as Position)),
        )
        return true
      },
      refused: (error) => this.error(error),
    })
  }

  get isOpen(): boolean {
    return this.#isOpen
  }

  get ended(): Ending | undefined {
    return this.#ended ?? (this.status === 'closed' ? undefined : this.host.ended)
  }

  /** Why nothing will be sent any more. */
  get failure(): ApiError | undefined {
    if (this.status === 'closed') return new ApiError('ABORTED', 'The document was closed.')
    return this.#endError ?? this.host.failure
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
    if (this.status === 'closed') return
    for (const editor of this.#editors.values()) editor.close()
    if (this.ref !== undefined) this.host.send({ type: 'close', ref: this.ref })
    this.#leave()
    this.status = 'closed'
    this.#retry.cancel()
    this.presence.closed()
    this.#liveStates.closed(this.failure as ApiError)
    this.host.closed(this)
    this.#listeners.emit(this)
    this.#listeners.clear()
    this.#errors.clear()
  }

  editorClosed(editor: EditorSession): void {
    this.#editors.delete(editor.editorId)
  }

  /** For people. */
  get name(): string {
    return `${this.organizationId}/${this.documentId}`
  }

  /** `isHandled`: somebody listens to the errors of the editor that it concerns. */
  error(error: ApiError, isHandled = false): void {
    const hasListeners = this.#errors.emit(error)
    this.host.error(error, isHandled || hasListeners)
  }

  /** An error that ends the document and its editors. False if nobody listens. */
  inform(error: ApiError): boolean {
    if (this.failure !== error) return false
    const hasListeners = this.#errors.emit(error)
    return [...this.#editors.values()].filter((editor) => editor.inform(error)).length > 0 || hasListeners
  }

  /** Once the connection is there. */
  open(): void {
    if (!this.host.isReady || this.ref !== undefined || this.status === 'closed' || this.#ended) return
    this.#retry.cancel()
    this.ref = this.host.newRef(this)
    const { ref, organizationId, documentId } = this
    const since = this.#liveStates.position
    this.host.send({
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
        return this.#opened(message)
      case 'closed':
        return this.#closed(message)
      case 'access':
        return this.#changeRole(message.accessRole)
      case 'presence':
        return this.presence.changed(message.users, message.left)
      case 'liveState':
        if (!this.#liveStates.changed(message)) this.#openAnew()
    }
  }

  /** It is over for this client, while the connection goes on. */
  end(ending: Ending): void {
    const error = errorOf(ending, this.name)
    this.#leave()
    this.#ended = ending
    this.#endError = error
    this.#becomeEnded(statusAfter(ending))
    this.host.error(error, this.inform(error))
  }

  /** The connection is gone; it may come back. */
  lost(): void {
    this.#leave()
    if (this.status === 'connected') this.#change('reconnecting')
  }

  /** The status of the connection has changed: what ended with it, ends; what it revives, lives. */
  connectionChanged(status: Status): void {
    if (this.#ended || this.status === 'closed') return
    if (status === 'denied' || status === 'failed') this.#becomeEnded(status)
    else if (this.status === 'denied' || this.status === 'failed') this.#change('reconnecting')
    for (const editor of this.#editors.values()) editor.documentChanged()
  }

  /** The page is put away, or shown again. */
  pageShown(isShown: boolean): void {
    for (const editor of this.#editors.values()) editor.pageShown(isShown)
  }

  #opened({ accessRole, position, reset, presence, liveStates }: DocumentMessage & { type: 'opened' }): void {
    this.#isOpen = true
    this.#isLimitReported = false
    this.#retry.succeeded()
    this.accessRole = accessRole
    this.#liveStates.opened(position, reset, liveStates ?? [])
    this.presence.opened(presence)
    this.#change('connected', true)
    for (const editor of this.#editors.values()) editor.open()
  }

  #closed({ code, reason }: Ending): void {
    const ending = { code, reason }
    if (isFinal(ending)) return this.end(ending)
    this.#leave()
    this.#change('reconnecting')
    this.#retry.later()
    if (code === closeCodes.rateLimited) this.#reportLimit(ending)
  }

  #reportLimit(ending: Ending): void {
    if (this.#isLimitReported) return
    this.#isLimitReported = true
    this.error(errorOf(ending, this.name))
  }

  /** The server speaks of another document under the same id: what is known of the old one is worth nothing. */
  #openAnew(): void {
    if (this.ref !== undefined) this.host.send({ type: 'close', ref: this.ref })
    this.#leave()
    this.#liveStates.forget()
    this.open()
  }

  #becomeEnded(status: 'denied' | 'failed'): void {
    this.#retry.cancel()
    this.presence.ended()
    this.#change(status)
    this.#liveStates.ended(this.failure as ApiError)
    for (const editor of this.#editors.values()) editor.documentChanged()
  }

  #leave(): void {
    if (this.ref !== undefined) this.host.freeRef(this.ref)
    this.ref = undefined
    this.#isOpen = false
    this.#liveStates.lost()
    for (const editor of this.#editors.values()) editor.lost()
  }

  #changeRole(accessRole: AccessRole): void {
    this.accessRole = accessRole
    for (const editor of this.#editors.values()) editor.roleChanged(accessRole)
    this.#listeners.emit(this)
  }

  #change(status: Status, always = false): void {
    if (this.status === status && !always) return
    this.status = status
    this.#listeners.emit(this)
  }
}
