import type { Awareness } from 'y-protocols/awareness'
import * as Y from 'yjs'
import { ApiError } from '@plenum/protocol/errors'
import { type AccessRole, closeCodes, limits } from '@plenum/protocol/realtime'
import { Listeners, type Unsubscribe } from '../../platform/listeners.ts'
import { Retry } from '../../platform/retry.ts'
import { Waiters } from '../../platform/waiters.ts'
import { endingError } from '../errors.ts'
import { closedAfter, detached, endingOf, failureOf, openId, type Phase } from '../phase.ts'
import { type Ending, isFinal, type Status, statusAfter } from '../status.ts'
import { EditorVersions } from '../versions/editor-versions.ts'
import type { LiveEditor, LiveEditorOptions, LiveEditorState } from './editor.ts'
import { EditorAwareness } from './editor-awareness.ts'
import type { ChannelReceiver, EditorDocument, EditorMessage } from './editor-deps.ts'
import { EditorSync } from './editor-sync.ts'
import { type EditorFrame, encodeFrame } from './frames.ts'

export class EditorSession implements LiveEditor, ChannelReceiver {
  readonly editorId: string
  readonly doc: Y.Doc
  /** The state that was reported last. */
  state: LiveEditorState
  readonly versions: EditorVersions
  readonly #options: LiveEditorOptions
  readonly #document: EditorDocument
  readonly #sync: EditorSync
  readonly #awareness: EditorAwareness
  readonly #listeners = new Listeners<LiveEditorState>()
  readonly #errors = new Listeners<ApiError>()
  readonly #syncWaiters = new Waiters()
  readonly #saveWaiters = new Waiters()
  readonly #retry = new Retry(() => this.open())
  #phase: Phase = detached
  #wasSynced = false
  /** The role that the server sent last. It stays while the editor is detached. */
  #role: AccessRole | undefined
  #hasAwarenessChange = false
  #isFlushScheduled = false
  /** Why the server refused local changes. Set while there are such changes. */
  #refusal: ApiError | undefined
  /** Why the changes of a viewer are not saved. Set while there are such changes, so that the error is reported once. */
  #viewerError: ApiError | undefined

  constructor(editorId: string, options: LiveEditorOptions, document: EditorDocument) {
    this.editorId = editorId
    this.#options = options
    this.#document = document
    this.doc = options.doc ?? new Y.Doc()
    this.#sync = new EditorSync(this.doc, this, {
      send: (bytes) => document.connection.sendBytes(bytes),
      requestFlush: () => this.#flushSoon(),
      onChange: () => this.#update(),
      reopen: () => this.#reopen(),
      onError: (error) => {
        this.#refusal = error
        this.#rejectSaves(error)
      },
    })
    this.#awareness = new EditorAwareness(this.doc, () => {
      this.#hasAwarenessChange = true
      this.#flushSoon()
    })
    this.versions = new EditorVersions({
      failure: () => this.#failure,
      reportError: (error) => this.reportError(error),
      request: (message, onOutcome) => {
        const channel = openId(this.#phase)
        if (channel === undefined || this.status !== 'connected') return false
        // A version contains the changes that the server received before the request, so local changes are sent first.
        this.#flush()
        if (this.#sync.hasQueued) return false
        if (message.type === 'addVersion' && this.#sync.hasRefused && !this.readOnly) {
          onOutcome(incompleteVersionError())
          return true
        }
        document.connection.request((id) => ({ ...message, channel, id }), onOutcome)
        return true
      },
    })
    this.state = this.#currentState()
    this.doc.on('destroy', this.#onDocDestroyed)
  }

  get awareness(): Awareness {
    return this.#awareness.awareness
  }

  get ended(): Ending | undefined {
    return endingOf(this.#phase, this.#document)
  }

  get status(): Status {
    return this.state.status
  }

  get reason(): ApiError | undefined {
    return this.state.reason
  }

  get saved(): boolean {
    return this.state.saved
  }

  get readOnly(): boolean {
    return this.state.readOnly
  }

  get whenSynced(): Promise<void> {
    if (this.#wasSynced) return Promise.resolve()
    return this.#waitWith(this.#syncWaiters)
  }

  whenSaved(): Promise<void> {
    return this.saved
      ? Promise.resolve()
      : this.#waitWith(this.#saveWaiters, this.#viewerError ?? this.#refusal)
  }

  #waitWith(waiters: Waiters, error?: ApiError): Promise<void> {
    const promise = waiters.promise()
    const failure = this.#failure ?? error
    if (failure) waiters.reject(failure)
    return promise
  }

  subscribe(listener: (state: LiveEditorState) => void): Unsubscribe {
    return this.#listeners.add(listener)
  }

  on(_event: 'error', listener: (error: ApiError) => void): Unsubscribe {
    return this.#errors.add(listener)
  }

  close(): void {
    if (this.#phase.name === 'closed') return
    this.awareness.setLocalState(null)
    this.#flush()
    this.doc.off('destroy', this.#onDocDestroyed)
    this.#sync.destroy()
    this.#document.onEditorClosed(this.editorId)
    this.#retry.cancel()
    const closed = closedAfter(this.#phase)
    this.#leaveChannel(closed)
    this.#phase = closed
    this.#awareness.destroy()
    this.#update()
    this.versions.close(this.#failure as ApiError)
    this.#listeners.clear()
    this.#errors.clear()
  }

  retry(): void {
    if (this.#phase.name === 'ended') {
      this.#phase = detached
      this.#update()
    }
    if (this.#document.openRef === undefined) this.#document.retry()
    else this.open()
  }

  /** Opens the editor at the server, if its document is open. */
  open(): void {
    const { connection, openRef: ref } = this.#document
    if (ref === undefined || this.#phase.name !== 'detached') return
    this.#retry.cancel()
    const channel = connection.newChannel(this)
    this.#phase = { name: 'opening', id: channel }
    const { type, contentKey } = this.#options
    connection.send({
      type: 'openEditor',
      ref,
      channel,
      editorId: this.editorId,
      ...(type && { contentType: type }),
      ...(contentKey !== undefined && { contentKey }),
    })
  }

  receive(message: EditorMessage): void {
    if (message.type === 'editorOpened') this.#onOpened(message.channel, message.accessRole)
    else if (message.type === 'editorClosed') this.#onClosed({ code: message.code, reason: message.reason })
    else this.versions.receive(message)
  }

  receiveFrame(frame: EditorFrame): void {
    if (this.#phase.name !== 'open') return
    try {
      if (frame.kind === 'awareness') this.#awareness.apply(frame.bytes)
      else this.#sync.receive(frame)
    } catch (cause) {
      // Yjs applies the change, then rethrows what an observer threw.
      const message = `An observer of the content failed: ${String(cause)}`
      this.#rejectSaves(new ApiError('INTERNAL', message, { cause }))
    }
  }

  reportError(error: ApiError): void {
    const hasListeners = this.#errors.emit(error)
    this.#document.reportError(error, hasListeners)
  }

  /** Emits an error that ended the document, unless the editor ended before. Returns whether there is a listener. */
  emitEnding(error: ApiError): boolean {
    return this.#phase.name !== 'ended' && this.#errors.emit(error)
  }

  onRoleChange(role: AccessRole): void {
    if (this.#phase.name !== 'open') return
    this.#role = role
    this.#sync.setCanWrite(role === 'editor')
    this.#update()
  }

  /** The document is not open at the server any more, so the channel is gone too. */
  onDocumentLost(): void {
    this.#retry.cancel()
    this.#releaseChannel(detached)
  }

  onDocumentStatus(): void {
    this.#update()
  }

  onPageShown(isShown: boolean): void {
    if (isShown) this.#awareness.show()
    else this.#awareness.hide()
    this.#flush()
  }

  #onOpened(channel: number, role: AccessRole): void {
    this.#phase = { name: 'open', id: channel }
    this.#role = role
    this.#retry.markSuccess()
    this.#sync.openChannel(channel, role === 'editor')
    this.#awareness.announce()
    this.versions.onOpened()
    this.#update()
  }

  #onClosed(ending: Ending): void {
    // The whole document was deleted. The server closes the document next, for the same reason.
    if (ending.code === closeCodes.gone) return this.#document.end(ending)
    this.#releaseChannel(detached)
    if (!isFinal(ending)) return this.#openLater()
    const error = endingError(ending, `${this.#document.name}/${this.editorId}`)
    if (this.#phase.name === 'detached') this.#phase = { name: 'ended', ending, error }
    this.#update()
    this.#rejectSaves(error)
  }

  #reopen(): void {
    this.#leaveChannel(detached)
    this.#openLater()
  }

  /** Opens the editor after a delay, unless a listener that was called meanwhile has closed it. */
  #openLater(): void {
    if (this.#phase.name === 'detached') this.#retry.schedule()
  }

  /** Tells the server to close the channel, and releases it. Does nothing if there is no channel. */
  #leaveChannel(next: Phase): void {
    if (!('id' in this.#phase)) return
    this.#document.connection.send({ type: 'closeEditor', channel: this.#phase.id })
    this.#releaseChannel(next)
  }

  /** Frees the channel, which the server closed or will close. Does nothing if there is no channel. */
  #releaseChannel(next: Phase): void {
    if (!('id' in this.#phase)) return
    this.#document.connection.freeChannel(this.#phase.id)
    this.#phase = next
    this.#sync.closeChannel()
    this.versions.onLost()
    this.#awareness.dropOthers()
    this.#update()
  }

  /** Flushes in a microtask, so that all changes of one task are sent together. */
  #flushSoon(): void {
    if (this.#isFlushScheduled || this.#phase.name !== 'open') return
    this.#isFlushScheduled = true
    queueMicrotask(() => {
      this.#isFlushScheduled = false
      this.#flush()
    })
  }

  #flush(): void {
    const channel = openId(this.#phase)
    if (channel === undefined) return
    this.#sync.flush()
    if (!this.#hasAwarenessChange) return
    this.#hasAwarenessChange = false
    const bytes = this.#awareness.encode()
    if (bytes.length <= limits.awarenessBytes) {
      this.#document.connection.sendBytes(encodeFrame(channel, 'awareness', bytes))
    } else {
      const message = 'An awareness state must not be larger than 16 KiB.'
      this.#rejectSaves(new ApiError('INVALID_ARGUMENT', message))
    }
  }

  #rejectSaves(error: ApiError): void {
    this.#saveWaiters.reject(error)
    this.reportError(error)
  }

  #onDocDestroyed = (): void => this.close()

  get #failure(): ApiError | undefined {
    return failureOf(this.#phase, this.#document, 'editor')
  }

  #currentState(): LiveEditorState {
    const status = this.#currentStatus()
    const hasReason = status !== 'connected' && status !== 'closed'
    return {
      status,
      reason: hasReason ? (this.#failure ?? this.#document.reason) : undefined,
      saved: this.#sync.isSaved,
      readOnly: this.#role === 'viewer',
    }
  }

  #currentStatus(): Status {
    const phase = this.#phase
    const { status } = this.#document
    if (phase.name === 'closed') return 'closed'
    if (phase.name === 'ended') return statusAfter(phase.ending)
    if (status === 'denied' || status === 'failed') return status
    if (phase.name === 'open' && this.#sync.isSynced) return 'connected'
    return this.#wasSynced ? 'reconnecting' : 'connecting'
  }

  #update(): void {
    this.#updateState()
    this.versions.flush()
  }

  #updateState(): void {
    const state = this.#currentState()
    const { status, reason, saved, readOnly } = this.state
    if (state.status === 'connected') this.#wasSynced = true
    const failure = this.#failure
    if (failure) {
      this.#syncWaiters.reject(failure)
      this.#saveWaiters.reject(failure)
      this.versions.rejectAll(failure)
    }
    const isSameReason = state.reason?.message === reason?.message
    if (state.status !== status || !isSameReason || state.saved !== saved || state.readOnly !== readOnly) {
      this.state = state
      this.versions.all.setProblem(state.reason, failure !== undefined)
      if (this.#wasSynced) this.#syncWaiters.resolve()
      if (saved !== state.saved && state.saved) this.#saveWaiters.resolve()
      this.#listeners.emit(state)
    }
    if (!this.#sync.hasRefused) this.#refusal = undefined
    this.#reportViewerChanges()
  }

  /** Reports that the changes of a viewer are not saved: once, until the user becomes an editor or nothing is unsaved. */
  #reportViewerChanges(): void {
    if (this.#role === 'editor' || this.#sync.isSaved) this.#viewerError = undefined
    if (!this.#sync.hasViewerChanges || this.#viewerError) return
    const message = `You are a viewer of ${this.#document.name}: your changes stay on this device until you become an editor.`
    this.#viewerError = new ApiError('PERMISSION_DENIED', message)
    this.#rejectSaves(this.#viewerError)
  }
}

const incompleteVersionError = () =>
  new ApiError(
    'FAILED_PRECONDITION',
    'The version would be incomplete: the server has refused local changes.',
  )
