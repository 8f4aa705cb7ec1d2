import type { AccessRole, CloseReason } from '@plenum/protocol/realtime'
import type { EditorRef } from '../../../store/refs.ts'
import type { Participant, ParticipantListener } from '../../documents/participant.ts'
import type { SessionListener } from '../../editors/dialect-side.ts'
import type { EditorSession } from '../../editors/session.ts'
import { authenticated, authMessages, HocuspocusCodec, message, messages } from './frames.ts'

/** The socket of a provider. */
export interface ProviderHost {
  /** Sends the frame, unless the provider has left: another provider may have its name now. */
  sendTo(provider: Provider, frame: Buffer): void
  /** Answers a sync step 1 that arrived before the token. */
  answerEarly(provider: Provider): void
  /** Closes the editor for the provider, or the whole connection. */
  closeProvider(provider: Provider, reason: CloseReason, text: string): void
}

/** One provider of a client, which has one editor open. */
export class Provider implements ParticipantListener, SessionListener {
  /** The name of the editor. With several providers for one editor, each adds a NUL and its session id. */
  readonly name: string
  /** Undefined if the name does not name an editor. */
  readonly ref: EditorRef | undefined
  readonly codec: HocuspocusCodec
  participant: Participant | undefined
  session: EditorSession | undefined
  /** Whether the server has requested a new token. */
  isTokenRequested = false
  /** Whether the last message was a token that the server had not requested. */
  hasGreeted = false
  readonly #host: ProviderHost
  /** Messages that arrived while the token was checked. The inbox of the connection bounds them. */
  #waiting: Buffer[] | undefined

  constructor(host: ProviderHost, name: string, ref: EditorRef | undefined) {
    this.#host = host
    this.name = name
    this.ref = ref
    this.codec = new HocuspocusCodec(name)
  }

  get hasWaiting(): boolean {
    return this.#waiting !== undefined
  }

  keepWaiting(data: Buffer): void {
    this.#waiting ??= []
    this.#waiting.push(data)
  }

  takeWaiting(): readonly Buffer[] {
    const waiting = this.#waiting ?? []
    this.#waiting = undefined
    return waiting
  }

  sendRole(role: AccessRole | undefined): void {
    if (role !== undefined) this.#host.sendTo(this, authenticated(this.name, role))
  }

  onOpened(role: AccessRole): void {
    this.sendRole(role)
    if (this.ref) this.session?.open(this.ref.editorId, { requestsUpdates: false })
    this.#host.answerEarly(this)
  }

  onRoleChanged(role: AccessRole): void {
    this.sendRole(role)
    this.session?.onRoleChanged()
  }

  onTokenExpiring(): void {
    this.isTokenRequested = true
    this.#host.sendTo(this, message(this.name, [messages.auth, authMessages.token]))
  }

  onClosed(reason: CloseReason, text: string): void {
    this.#host.closeProvider(this, reason, text)
  }

  onEditorClosed(reason: CloseReason, text: string): void {
    this.#host.closeProvider(this, reason, text)
  }
}
