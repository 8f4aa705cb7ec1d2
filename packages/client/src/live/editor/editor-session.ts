import type { Awareness } from 'y-protocols/awareness'
import * as Y from 'yjs'
import { ApiError } from '@plenum/protocol/errors'
import { type AccessRole, closeCodes, limits, type ServerMessage } from '@plenum/protocol/realtime'
import type { DocumentSession } from '../document/document-session.ts'
import type { LiveEditor, LiveEditorOptions, LiveEditorState } from './editor.ts'
import { EditorAwareness } from './editor-awareness.ts'
import { EditorSync } from './editor-sync.ts'
import { errorOf } from '../explain.ts'
import { type EditorFrame, encodeFrame } from './frames.ts'
import { Listeners, type Unsubscribe } from '../../platform/listeners.ts'
import { Retry } from '../../platform/retry.ts'
import { type Ending, isFinal, type Status, statusAfter } from '../status.ts'
import { EditorVersions } from '../versions/versions.ts'
import { Waiting } from '../../platform/waiting.ts'

type EditorMessage = ServerMessage & {
  type: 'editorOpened' | 'editorClosed' | 'versionAdded' | 'versionRestored' | 'versionsChanged'
}

export class EditorSession implements LiveEditor {
  readonly editorId: string
  readonly doc: Y.Doc
  state: LiveEditorState
  readonly versions: EditorVersions
  readonly #options: LiveEditorOptions
  readonly #document: DocumentSession
  readonly #sync: EditorSync
  readonly #awareness: EditorAwareness
  readonly #listeners = new Listeners<LiveEditorState>()
  readonly #errors = new Listeners<ApiError>()
  readonly #synced = new Waiting()
  readonly #saved = new Waiting()
  readonly #retry = new Retry(() => this.open())
  #channel: number | undefined
  #isOpen = false
  #isClosed = false
  #wasSynced = false
  #role: AccessRole | undefined
  #isAwarenessStale = false
  #isFlushing = false
  /** Why the changes of a viewer are not sent; known while there are such changes. */
  #heldBack: ApiError | undefined
  /** The editor alone; its document may be well. */
  #ended: Ending | undefined
  /** Explains `#ended`. */
  #endError: ApiError | undefined

  constructor(editorId: string, options: LiveEditorOptions, document: DocumentSession) {
    this.editorId = editorId
    this.#options = options
    this.#document = document
    this.doc = options.doc ?? new Y.Doc()
    this.#sync = new EditorSync(this.doc, this, {
      send: (bytes) => document.host.sendBytes(bytes),
      waiting: () => this.#flushSoon(),
      changed: () => this.#update(),
      startOver: () => this.#startOver(),
      error: (error) => this.#failed(error),
    })
    this.#awareness = new EditorAwareness(this.doc, () => {
      this.#isAwarenessStale = true
      this.#flushSoon()
    })
    this.versions = new EditorVersions({
      failure: () => this.#failure,
      error: (error) => this.#report(error),
      request: (message, answer) => {
        const channel = this.#channel
        if (channel === undefined || this.status !== 'connected') return false
        // The server saves what it was sent before.
        this.#flush()
        if (this.#sync.hasPostponed) return false
        if (message.type === 'addVersion' && this.#sync.hasRefused && !this.readOnly) {
          answer(notSaved())
          return true
        }
        document.host.request((id) => ({ ...message, channel, id }), answer)
        return true
      },
    })
    this.state = this.#currentState()
    this.doc.on('destroy', this.#destroyed)
  }

  get awareness(): Awareness {
    return this.#awareness.awareness
  }

  get ended(): Ending | undefined {
    return this.#ended ?? (this.#isClosed ? undefined : this.#document.ended)
  }

  get status(): Status {
    return this.state.status
  }

  get saved(): boolean {
    return this.state.saved
  }

  get readOnly(): boolean {
    return this.state.readOnly
  }

  get whenSynced(): Promise<void> {
    if (this.#wasSynced) return Promise.resolve()
    return this.#promise(this.#synced)
  }

  whenSaved(): Promise<void> {
    return this.saved ? Promise.resolve() : this.#promise(this.#saved, this.#heldBack)
  }

  #promise(waiting: Waiting, reason?: ApiError): Promise<void> {
    const promise = waiting.promise()
    const failure = this.#failure ?? reason
    if (failure) waiting.reject(failure)
    return promise
  }

  subscribe(listener: (state: LiveEditorState) => void): Unsubscribe {
    return this.#listeners.add(listener)
  }

  on(_event: 'error', listener: (error: ApiError) => void): Unsubscribe {
    return this.#errors.add(listener)
  }

  close(): void {
    if (this.#isClosed) return
    this.awareness.setLocalState(null)
    this.#flush()
    this.#isClosed = true
    this.doc.off('destroy', this.#destroyed)
    this.#sync.destroy()
    this.#document.editorClosed(this)
    this.#leave()
    this.#awareness.destroy()
    this.#update()
    this.versions.closed(this.#failure as ApiError)
    this.#listeners.clear()
    this.#errors.clear()
  }

  /** Once the document is open. */
  open(): void {
    const { host, ref, isOpen } = this.#document
    if (!isOpen || ref === undefined || this.#isClosed || this.#ended) return
    this.#retry.cancel()
    this.#channel = host.newChannel(this)
    const { type, contentKey } = this.#options
    host.send({
      type: 'openEditor',
      ref,
      channel: this.#channel,
      editorId: this.editorId,
      ...(type && { contentType: type }),
      ...(contentKey !== undefined && { contentKey }),
    })
  }

  receive(message: EditorMessage): void {
    if (message.type === 'editorOpened') this.#opened(message.channel, message.accessRole)
    else if (message.type === 'editorClosed') this.#closed({ code: message.code, reason: message.reason })
    else this.versions.receive(message)
  }

  receiveFrame(frame: EditorFrame): void {
    if (!this.#isOpen) return
    try {
      if (frame.kind === 'awareness') this.#awareness.apply(frame.bytes)
      else this.#sync.receive(frame)
    } catch (cause) {
      // Yjs passes on what observers throw, after it has applied the change.
      this.#failed(new ApiError('INTERNAL', `A change could not be shown: ${String(cause)}`, { cause }))
    }
  }

  /** The server refuses a message of this channel. Changes of the document are refused by frames. */
  error(error: ApiError): void {
    this.#report(error)
  }

  /** An error that ends the document. False if nobody listens. */
  inform(error: ApiError): boolean {
    return !this.#endError && this.#errors.emit(error)
  }

  roleChanged(role: AccessRole): void {
    if (!this.#isOpen) return
    this.#role = role
    this.#sync.roleChanged(role === 'editor')
    this.#update()
  }

  lost(): void {
    this.#retry.cancel()
    if (this.#channel === undefined) return
    this.#document.host.freeChannel(this.#channel)
    this.#channel = undefined
    this.#isOpen = false
    this.#sync.lost()
    this.versions.lost()
    this.#awareness.forgetOthers()
    this.#update()
  }

  /** The document came to its end, or back from it. */
  documentChanged(): void {
    this.#update()
  }

  pageShown(isShown: boolean): void {
    if (isShown) this.#awareness.takeOut()
    else this.#awareness.putAway()
    this.#flush()
  }

  #opened(channel: number, role: AccessRole): void {
    this.#isOpen = true
    this.#role = role
    this.#retry.succeeded()
    this.#sync.open(channel, role === 'editor')
    this.#awareness.announce()
    this.versions.opened()
    this.#update()
  }

  #closed(ending: Ending): void {
    // The server closes the document next, for the same reason.
    if (ending.code === closeCodes.gone) return this.#document.end(ending)
    this.lost()
    if (!isFinal(ending)) return this.#retry.later()
    const error = errorOf(ending, `${this.#document.name}/${this.editorId}`)
    this.#ended = ending
    this.#endError = error
    this.#update()
    this.#failed(error)
  }

  #startOver(): void {
    this.#leave()
    this.#retry.later()
  }

  #leave(): void {
    if (this.#channel !== undefined) {
      this.#document.host.send({ type: 'closeEditor', channel: this.#channel })
    }
    this.lost()
  }

  #flushSoon(): void {
    if (this.#isFlushing || !this.#isOpen) return
    this.#isFlushing = true
    queueMicrotask(() => {
      this.#isFlushing = false
      this.#flush()
    })
  }

  #flush(): void {
    if (!this.#isOpen) return
    this.#sync.flush()
    if (!this.#isAwarenessStale) return
    this.#isAwarenessStale = false
    const bytes = this.#awareness.encode()
    if (bytes.length <= limits.awarenessBytes) {
      this.#document.host.sendBytes(encodeFrame(this.#channel as number, 'awareness', bytes))
    } else {
      this.#failed(new ApiError('INVALID_ARGUMENT', 'An awareness state must not be larger than 16 KiB.'))
    }
  }

  #failed(error: ApiError): void {
    this.#saved.reject(error)
    this.#report(error)
  }

  #report(error: ApiError): void {
    const hasListeners = this.#errors.emit(error)
    this.#document.error(error, hasListeners)
  }

  #destroyed = (): void => this.close()

  get #failure(): ApiError | undefined {
    if (this.#isClosed) return new ApiError('ABORTED', 'The editor was closed.')
    return this.#endError ?? this.#document.failure
  }

  #currentState(): LiveEditorState {
    return {
      status: this.#currentStatus(),
      saved: this.#sync.isSaved,
      readOnly: this.#role === 'viewer',
    }
  }

  #currentStatus(): Status {
    const { status } = this.#document
    if (this.#isClosed) return 'closed'
    if (this.#ended) return statusAfter(this.#ended)
    if (status === 'denied' || status === 'failed') return status
    if (this.#isOpen && this.#sync.isSynced) return 'connected'
    return this.#wasSynced ? 'reconnecting' : 'connecting'
  }

  #update(): void {
    this.#updateState()
    this.versions.flush()
  }

  #updateState(): void {
    const state = this.#currentState()
    const { status, saved, readOnly } = this.state
    if (state.status === 'connected') this.#wasSynced = true
    const failure = this.#failure
    if (failure) {
      this.#synced.reject(failure)
      this.#saved.reject(failure)
      this.versions.ended(failure)
    }
    if (state.status !== status || state.saved !== saved || state.readOnly !== readOnly) {
      this.state = state
      if (this.#wasSynced) this.#synced.resolve()
      if (saved !== state.saved && state.saved) this.#saved.resolve()
      this.#listeners.emit(state)
    }
    this.#reportHeldBack()
  }

  /** Once, until the user becomes an editor. */
  #reportHeldBack(): void {
    if (this.#role === 'editor' || this.#sync.isSaved) this.#heldBack = undefined
    if (!this.#sync.isHeldBack || this.#heldBack) return
    const message = `You are a viewer of ${this.#document.name}: what is typed stays on this device.`
    this.#heldBack = new ApiError('PERMISSION_DENIED', message)
    this.#failed(this.#heldBack)
  }
}

const notSaved = () =>
  new ApiError(
    'FAILED_PRECONDITION',
    'The version would lack changes made here, because the server refused them.',
  )
