import * as decoding from 'lib0/decoding'
import type { CloseReason } from '@plenum/protocol/realtime'
import { emptyAwareness } from '../../rooms/awareness/awareness-update.ts'
import { type Connection, isFinal } from '../../sockets/connection.ts'
import { EditorSession, type Voice } from '../../editors/session.ts'
import type { Place } from '../../../store/editors/editors.ts'
import type { Arrival, DialectClient } from '../../gateway.ts'
import type { Hub } from '../../editors/services.ts'
import { Denial, didNotSay, type Identity } from '../../authorization/identify.ts'
import type { Participant } from '../../documents/participant.ts'
import { maxNameLength, namePattern, placeIn } from '../../documents/place.ts'
import { authenticated, authMessages, createVoice, denied, message, messages, ping } from './frames.ts'
import { StatelessSender } from './stateless.ts'
import { isQuestion, readSync } from '../yjs.ts'

/** Editors of one connection. */
const mostEditors = 1_000
/** Providers of one connection that have the same editor open, each with a session id of its own. */
const maxProvidersPerEditor = 10
/** The name of an editor and the session id of a provider. */
const maxFullNameLength = maxNameLength + 256
/** The state vector of who has nothing. */
const nothing = Uint8Array.of(0)

/** Without the session id. */
const editorNameOf = (name: string): string => name.split('\0', 1)[0] as string

interface Opened {
  name: string
  /** Undefined if the name is none of an editor. */
  place: Place | undefined
  voice: Voice
  participant?: Participant
  session?: EditorSession
  /** What came while the token was checked; the inbox of the connection bounds it. */
  waiting: Buffer[]
  /** The server asked for a fresh token. */
  wasAsked: boolean
  /** The last message was a token that nobody asked for. */
  hasGreeted: boolean
}

export class HocuspocusClient implements DialectClient {
  readonly needsToken = false
  readonly #connection: Connection
  readonly #hub: Hub
  readonly #identify: Arrival['identify']
  readonly #editors = new Map<string, Opened>()
  /** From the address or the headers; then tokens in messages count only if they were asked for. */
  #identity: Identity | undefined
  /** What it may not open, if it is known from the address: it was told so. */
  readonly #denied = new Set<string>()
  /** What it asked for before the token came. */
  readonly #askedEarly = new Set<string>()
  /** The reason that the last refused provider was given. */
  #lastDenial: string | undefined
  isIdentified = false
  #checks = 0
  #sessions = 0
  #understandsPing = false
  readonly #stateless = new StatelessSender()
  /** The client is gone, and everything that it sent has been read. */
  #isClosed = false

  constructor({ connection, hub, identify }: Arrival) {
    this.#connection = connection
    this.#hub = hub
    this.#identify = identify
  }

  get isChecking(): boolean {
    return this.#checks > 0
  }

  /** Applications open a socket before they have providers for it; some versions never connect again after 4401. */
  get silence(): Denial {
    return new Denial('slow', this.#lastDenial ?? didNotSay)
  }

  enter(identity: Identity): void {
    this.#identity = identity
    this.isIdentified = true
  }

  receive(data: Buffer): boolean {
    if (data.length === 1 && data[0] === messages.pong) return true
    const decoder = decoding.createDecoder(data)
    // With several providers for one editor, a session id follows a NUL: a name of its own as far as answers go.
    const name = decoding.readVarString(decoder)
    if (name.length > maxFullNameLength) {
      this.deny('badMessage', `The name of an editor has at most ${maxFullNameLength} characters.`)
      return true
    }
    const type = decoding.readVarUint(decoder)
    const editor = this.#editors.get(name)
    if (editor === undefined) return this.#begin(name, type, decoder, data)
    // Whoever opens the editor again is not this provider.
    if (type === messages.close) this.#editors.delete(name)
    if (editor.session) return this.#read(type, decoder, editor, editor.session)
    editor.waiting.push(data)
    return true
  }

  #begin(name: string, type: number, decoder: decoding.Decoder, data: Buffer): boolean {
    const isKnown = this.#identity !== undefined && type === messages.sync && !this.#denied.has(name)
    if (type !== messages.auth && !isKnown) {
      this.#hearEarly(name, type, decoder)
      return true
    }
    const place = placeIn(editorNameOf(name))
    const limit = this.#limitReached(place)
    if (limit !== undefined) {
      this.#connection.send(denied(name, limit))
      return true
    }
    const voice = createVoice(name)
    const editor: Opened = { name, place, voice, waiting: [], wasAsked: false, hasGreeted: false }
    this.#editors.set(name, editor)
    // Providers that have no token to send do not greet.
    if (type !== messages.auth) editor.waiting.push(data)
    return this.#check(editor, type === messages.auth ? this.#readToken(decoder) : '')
  }

  /** Why the connection may not have one more editor, if so. */
  #limitReached(place: Place | undefined): string | undefined {
    if (this.#editors.size + this.#denied.size >= mostEditors)
      return `A connection has at most ${mostEditors} editors.`
    if (place && this.#providersOf(place) >= maxProvidersPerEditor)
      return `A connection has at most ${maxProvidersPerEditor} providers of one editor.`
    return undefined
  }

  #providersOf({ organizationId, documentId, editorId }: Place): number {
    let count = 0
    for (const { place } of this.#editors.values()) {
      const isSame = place?.editorId === editorId && place.documentId === documentId
      if (isSame && place.organizationId === organizationId) count++
    }
    return count
  }

  /** After a denial, and before a token that takes its time, clients talk on; what they ask is not asked again. */
  #hearEarly(name: string, type: number, decoder: decoding.Decoder): void {
    if (type === messages.close) this.#askedEarly.delete(name)
    if (type !== messages.sync || !isQuestion(decoder)) return
    if (this.#askedEarly.size < mostEditors) this.#askedEarly.add(name)
  }

  /** Everything, as it is not known any more what the client had; and it says again who is there. */
  #answerEarly({ name, session }: Opened): void {
    if (!this.#askedEarly.delete(name)) return
    session?.syncStep1(nothing, true)
    session?.send(message(name, [messages.queryAwareness]))
  }

  #read(type: number, decoder: decoding.Decoder, editor: Opened, session: EditorSession): boolean {
    const { hasGreeted } = editor
    editor.hasGreeted = type === messages.auth && !editor.wasAsked
    if (type === messages.sync) {
      // Another provider under the name of one that is let in begins like that one, and waits to hear that it is let in too.
      if (hasGreeted && isQuestion(decoder)) this.#tellRole(editor)
      return readSync(decoder, session, { asksBack: true })
    }
    if (type === messages.syncReply) return readSync(decoder, session, {})
    if (type === messages.auth) return this.#check(editor, this.#readToken(decoder))
    if (type === messages.awareness) session.awareness(decoding.readVarUint8Array(decoder))
    else if (type === messages.queryAwareness) session.queryAwareness()
    else if (type === messages.close) session.finish(() => this.#leave(editor))
    else if (type === messages.stateless || type === messages.broadcastStateless)
      return this.#stateless.send(editor.name, decoding.readVarUint8Array(decoder), session)
    // Others are for servers that know them.
    return true
  }

  /** Undefined if it is no token. Providers that say which version they are know pings; to older ones those are an error. */
  #readToken(decoder: decoding.Decoder): string | undefined {
    if (decoding.readVarUint(decoder) !== authMessages.token) return undefined
    const token = decoding.readVarString(decoder)
    this.#understandsPing = decoding.hasContent(decoder)
    return token
  }

  #check(editor: Opened, token: string | undefined): boolean {
    if (token === undefined) return false
    this.#checks++
    this.#connection.hold()
    this.#identityBy(token, editor)
      .then((identity) => this.#identified(editor, identity))
      .catch((error: unknown) => {
        if (error instanceof Denial) this.#end(editor, error.reason, error.message)
        else this.#end(editor, 'unavailable', 'The editor could not be opened.')
      })
      .finally(() => {
        this.#checks--
        this.#connection.release()
      })
    return true
  }

  async #identityBy(token: string, { wasAsked }: Opened): Promise<Identity> {
    if (this.#identity === undefined) return this.#identify(token)
    if (wasAsked && token !== '') this.#identity = await this.#identify(token)
    return this.#identity
  }

  #identified(editor: Opened, identity: Identity): void {
    if (this.#isClosed && editor.waiting.length === 0) return
    this.isIdentified = true
    if (editor.participant) {
      editor.wasAsked = false
      return editor.participant.renew(identity)
    }
    const { place } = editor
    if (place === undefined) throw new Denial('badMessage', namePattern)
    const ended = (reason: CloseReason, message: string) => this.#end(editor, reason, message)
    editor.participant = this.#hub.documents.join(this.#connection, identity, place, {
      opened: (role) => {
        this.#tell(editor, authenticated(editor.name, role))
        editor.session?.open(place.editorId, { asks: false })
        this.#answerEarly(editor)
      },
      changed: (role) => {
        this.#tell(editor, authenticated(editor.name, role))
        if (role === 'editor') editor.session?.mayWrite()
      },
      expiring: () => {
        editor.wasAsked = true
        this.#tell(editor, message(editor.name, [messages.auth, authMessages.token]))
      },
      ended,
    })
    editor.session = new EditorSession({
      sessionId: this.#sessions++ === 0 ? this.#connection.id : `${this.#connection.id}.${this.#sessions}`,
      connection: this.#connection,
      participant: editor.participant,
      voice: editor.voice,
      ended,
    })
    editor.participant.start()
    for (const data of editor.waiting.splice(0)) this.#readLate(data, editor, editor.session)
    if (this.#isClosed) editor.session.finish(() => this.#leave(editor))
  }

  #readLate(data: Buffer, editor: Opened, session: EditorSession): void {
    const decoder = decoding.createDecoder(data)
    decoding.readVarString(decoder)
    try {
      if (this.#read(decoding.readVarUint(decoder), decoder, editor, session)) return
    } catch {
      // The same as what is no message at all.
    }
    this.deny('badMessage', 'This is no message of the protocol.')
  }

  #tellRole(editor: Opened): void {
    const role = editor.participant?.role
    if (role !== undefined) this.#tell(editor, authenticated(editor.name, role))
  }

  /** Unless the provider is gone: another one may be there under its name. */
  #tell(editor: Opened, frame: Buffer): void {
    if (this.#editors.get(editor.name) === editor) this.#connection.send(frame)
  }

  #end(editor: Opened, reason: CloseReason, text: string): void {
    // Not the whole socket for one editor of many: coming back at once would not help.
    const endsAlone = isFinal(reason) || reason === 'rateLimited'
    if (endsAlone) {
      this.#tell(editor, denied(editor.name, text))
      this.#lastDenial = text
      // Who was never let in has nothing to close.
      if (editor.participant?.role) this.#tell(editor, message(editor.name, [messages.close], text))
      if (this.#identity) this.#denied.add(editor.name)
    }
    this.#leave(editor)
    if (!endsAlone) this.#connection.close(reason, text)
  }

  #leave(editor: Opened): void {
    if (this.#editors.get(editor.name) === editor) this.#editors.delete(editor.name)
    editor.session?.leave()
    editor.participant?.leave()
  }

  keepAlive(): void {
    const [editor] = this.#editors.values()
    if (this.#understandsPing) this.#connection.send(ping)
    else if (editor) this.#connection.send(editor.voice.awareness(emptyAwareness))
  }

  deny(reason: CloseReason, message: string): void {
    this.#connection.close(reason, message)
  }

  /** The close code says all that this protocol can. */
  move(): void {}

  closed(): void {
    this.#isClosed = true
    for (const editor of this.#editors.values()) editor.session?.finish(() => this.#leave(editor))
  }
}
