import * as decoding from 'lib0/decoding'
import type { CloseReason } from '@plenum/protocol/realtime'
import type { EditorRef } from '../../../store/refs.ts'
import { Denial, noTokenMessage, type Identity } from '../../authorization/identity.ts'
import { maxEditorNameLength, namePattern, parseEditorName } from '../../documents/editor-name.ts'
import { EditorSession } from '../../editors/session.ts'
import { emptyAwareness } from '../../rooms/awareness/awareness-update.ts'
import { type Connection, isFinal } from '../../sockets/connection.ts'
import { pingFrame } from '../../sockets/frames.ts'
import type { DialectClient, DialectContext } from '../dialect.ts'
import { isSyncStep1, readSync } from '../yjs-sync.ts'
import { authMessages, denied, message, messages, pingFrames } from './frames.ts'
import { Provider, type ProviderHost } from './provider.ts'
import { StatelessSender } from './stateless.ts'

/** Limit of each connection. */
const maxEditors = 1_000
/** How many providers of one connection may have the same editor open, each with its own session id. */
const maxProvidersPerEditor = 10
/** The length of an editor's name together with the session id of a provider. */
const maxFullNameLength = maxEditorNameLength + 256
const emptyStateVector = Uint8Array.of(0)

const withoutSessionId = (name: string): string => name.split('\0', 1)[0] as string

/** A socket of the Hocuspocus provider, which many providers may share. */
export class HocuspocusClient implements DialectClient, ProviderHost {
  readonly needsToken = false
  readonly #context: DialectContext
  readonly #providers = new Map<string, Provider>()
  /** The identity from the URL or the headers. If set, a token in a message is used only if the server requested it. */
  #identity: Identity | undefined
  /** Editors that were denied to a client with an identity from the URL or the headers. */
  #denied: Set<string> | undefined
  /** Editors for which a sync step 1 arrived before the token or after a denial. */
  #earlyRequests: Set<string> | undefined
  /** The text that the last denied provider got. */
  #lastDenial: string | undefined
  isIdentified = false
  /** How many tokens are being checked. */
  #checkCount = 0
  /** How many sessions were created. */
  #sessionCount = 0
  #understandsPing = false
  #stateless: StatelessSender | undefined
  /** The client has disconnected, and all its messages are delivered. */
  #isClosed = false

  constructor(context: DialectContext) {
    this.#context = context
  }

  get #connection(): Connection {
    return this.#context.connection
  }

  get isChecking(): boolean {
    return this.#checkCount > 0
  }

  /** Not 4401: applications open a socket before its providers, and some versions never reconnect after 4401. */
  get authTimeoutReason(): Denial {
    return new Denial('slow', this.#lastDenial ?? noTokenMessage)
  }

  onIdentified(identity: Identity): void {
    this.#identity = identity
    this.isIdentified = true
  }

  receive(data: Buffer): boolean {
    if (data.length === 1 && data[0] === messages.pong) return true
    const decoder = decoding.createDecoder(data)
    const name = decoding.readVarString(decoder)
    if (name.length > maxFullNameLength) {
      this.deny('badMessage', `The name of an editor has at most ${maxFullNameLength} characters.`)
      return true
    }
    const type = decoding.readVarUint(decoder)
    const provider = this.#providers.get(name)
    if (provider === undefined) return this.#receiveFirst(name, type, decoder, data)
    // The name is free now: another provider may open the editor again.
    if (type === messages.close) this.#providers.delete(name)
    if (provider.session) return this.#read(type, decoder, provider, provider.session)
    provider.keepWaiting(data)
    return true
  }

  /**
   * Handles a message under a name that no provider has. A token adds the provider; if `#identity` is set, so does a sync
   * message.
   */
  #receiveFirst(name: string, type: number, decoder: decoding.Decoder, data: Buffer): boolean {
    // A provider without a token does not send an auth message.
    const canStartWithSync = this.#identity !== undefined && !this.#denied?.has(name)
    if (type !== messages.auth && !(canStartWithSync && type === messages.sync)) {
      this.#rememberEarly(name, type, decoder)
      return true
    }
    const ref = parseEditorName(withoutSessionId(name))
    const limit = this.#reachedLimit(ref)
    if (limit !== undefined) {
      this.#connection.send(denied(name, limit))
      return true
    }
    const provider = new Provider(this, name, ref)
    this.#providers.set(name, provider)
    if (type !== messages.auth) provider.keepWaiting(data)
    return this.#check(provider, type === messages.auth ? this.#readToken(decoder) : '')
  }

  /** Returns why the connection may not have one more provider. Undefined if it may. */
  #reachedLimit(ref: EditorRef | undefined): string | undefined {
    if (this.#providers.size + (this.#denied?.size ?? 0) >= maxEditors)
      return `A connection has at most ${maxEditors} editors.`
    if (ref && this.#countProviders(ref) >= maxProvidersPerEditor)
      return `A connection has at most ${maxProvidersPerEditor} providers of one editor.`
    return undefined
  }

  #countProviders({ organizationId, documentId, editorId }: EditorRef): number {
    let count = 0
    for (const { ref } of this.#providers.values()) {
      const isSame = ref?.editorId === editorId && ref.documentId === documentId
      if (isSame && ref.organizationId === organizationId) count++
    }
    return count
  }

  /** Clients may send messages after a denial or before their token. They never repeat a sync step 1, so it is remembered. */
  #rememberEarly(name: string, type: number, decoder: decoding.Decoder): void {
    if (type === messages.close) this.#earlyRequests?.delete(name)
    if (type !== messages.sync || !isSyncStep1(decoder)) return
    this.#earlyRequests ??= new Set()
    if (this.#earlyRequests.size < maxEditors) this.#earlyRequests.add(name)
  }

  /** Answers a remembered sync step 1 with the whole content, because its state vector was not kept. Requests awareness again. */
  answerEarly({ name, session }: Provider): void {
    if (!this.#earlyRequests?.delete(name)) return
    session?.syncStep1(emptyStateVector, true)
    session?.send(message(name, [messages.queryAwareness]))
  }

  #read(type: number, decoder: decoding.Decoder, provider: Provider, session: EditorSession): boolean {
    const { hasGreeted } = provider
    provider.hasGreeted = type === messages.auth && !provider.isTokenRequested
    if (type === messages.sync) {
      // A token and then a sync step 1 under a name in use: another provider has started, and waits for `authenticated`.
      if (hasGreeted && isSyncStep1(decoder)) provider.sendRole(provider.participant?.role)
      return readSync(decoder, session, { sendsStep1Back: true })
    }
    if (type === messages.syncReply) return readSync(decoder, session, {})
    if (type === messages.auth) return this.#check(provider, this.#readToken(decoder))
    if (type === messages.awareness) session.awareness(decoding.readVarUint8Array(decoder))
    else if (type === messages.queryAwareness) session.queryAwareness()
    else if (type === messages.close) session.prepareToLeave(() => this.#leave(provider))
    else if (type === messages.stateless || type === messages.broadcastStateless)
      return this.#relay(provider.name, decoding.readVarUint8Array(decoder), session)
    // Unknown types are ignored.
    return true
  }

  #relay(name: string, payload: Uint8Array, session: EditorSession): boolean {
    this.#stateless ??= new StatelessSender(this.#context.clock)
    return this.#stateless.send(name, payload, session)
  }

  /** Undefined if the message has no token. A provider that sends its version understands pings. Older providers do not. */
  #readToken(decoder: decoding.Decoder): string | undefined {
    if (decoding.readVarUint(decoder) !== authMessages.token) return undefined
    const token = decoding.readVarString(decoder)
    this.#understandsPing = decoding.hasContent(decoder)
    return token
  }

  #check(provider: Provider, token: string | undefined): boolean {
    if (token === undefined) return false
    this.#checkCount++
    this.#connection.hold()
    this.#identityFor(provider, token)
      .then((identity) => this.#accept(provider, identity))
      .catch((error: unknown) => {
        if (error instanceof Denial) this.closeProvider(provider, error.reason, error.message)
        else this.closeProvider(provider, 'unavailable', 'The editor could not be opened.')
      })
      .finally(() => {
        this.#checkCount--
        this.#connection.release()
      })
    return true
  }

  async #identityFor({ isTokenRequested }: Provider, token: string): Promise<Identity> {
    if (this.#identity === undefined) return this.#context.identify(token)
    if (isTokenRequested && token !== '') this.#identity = await this.#context.identify(token)
    return this.#identity
  }

  #accept(provider: Provider, identity: Identity): void {
    if (this.#isClosed && !provider.hasWaiting) return
    this.isIdentified = true
    if (provider.participant) {
      provider.isTokenRequested = false
      return provider.participant.renew(identity)
    }
    const { ref } = provider
    if (ref === undefined) throw new Denial('badMessage', namePattern)
    const { connection, services } = this.#context
    provider.participant = services.documents.join(connection, identity, ref, provider)
    provider.session = new EditorSession({
      sessionId: this.#sessionCount++ === 0 ? connection.id : `${connection.id}.${this.#sessionCount}`,
      connection,
      participant: provider.participant,
      codec: provider.codec,
      listener: provider,
    })
    provider.participant.start()
    for (const data of provider.takeWaiting()) this.#readWaiting(data, provider, provider.session)
    if (this.#isClosed) provider.session.prepareToLeave(() => this.#leave(provider))
  }

  #readWaiting(data: Buffer, provider: Provider, session: EditorSession): void {
    const decoder = decoding.createDecoder(data)
    decoding.readVarString(decoder)
    try {
      if (this.#read(decoding.readVarUint(decoder), decoder, provider, session)) return
    } catch {
      // A malformed message is denied like an unknown message.
    }
    this.deny('badMessage', 'The message is not part of the protocol.')
  }

  /** Sends the frame, unless the provider has left: another provider may have its name now. */
  sendTo(provider: Provider, frame: Buffer): void {
    if (this.#providers.get(provider.name) === provider) this.#connection.send(frame)
  }

  /** Closes the editor for the provider, or the whole connection. */
  closeProvider(provider: Provider, reason: CloseReason, text: string): void {
    // If an immediate reconnect does not help, only the editor is closed, not the socket with all its editors.
    const keepsSocket = isFinal(reason) || reason === 'rateLimited'
    if (keepsSocket) {
      this.sendTo(provider, denied(provider.name, text))
      this.#lastDenial = text
      // A provider that never had access has no open editor.
      if (provider.participant?.role) this.sendTo(provider, message(provider.name, [messages.close], text))
      if (this.#identity) (this.#denied ??= new Set()).add(provider.name)
    }
    this.#leave(provider)
    if (!keepsSocket) this.#connection.close(reason, text)
  }

  #leave(provider: Provider): void {
    if (this.#providers.get(provider.name) === provider) this.#providers.delete(provider.name)
    provider.session?.leave()
    provider.participant?.leave()
  }

  get pingFrames(): Buffer {
    if (this.#understandsPing) return pingFrames
    const [provider] = this.#providers.values()
    return provider ? Buffer.concat([provider.codec.awareness(emptyAwareness), pingFrame]) : pingFrame
  }

  deny(reason: CloseReason, message: string): void {
    this.#connection.close(reason, message)
  }

  /** The protocol has no message that asks a client to reconnect. The close code follows. */
  onDrain(): void {}

  onDisconnected(): void {
    this.#isClosed = true
    for (const provider of this.#providers.values())
      provider.session?.prepareToLeave(() => this.#leave(provider))
  }
}
