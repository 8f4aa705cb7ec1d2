import * as decoding from 'lib0/decoding'
import * as encoding from 'lib0/encoding'
import type { AccessRole, CloseReason } from '@plenum/protocol/realtime'
import type { Connection } from '../connection.ts'
import { EditorSession, type Voice } from '../editor-session.ts'
import { binaryFrame } from '../frames.ts'
import type { Arrival, DialectClient } from '../gateway.ts'
import type { Hub } from '../hub.ts'
import { Denial, type Identity } from '../identify.ts'
import { isFinal, type Participant } from '../participant.ts'
import { namePattern, placeIn } from '../place.ts'
import { readSync, syncMessages } from './yjs.ts'

/** The protocol of the Hocuspocus provider: every message begins with the name of its editor. */
const messages = {
  sync: 0,
  awareness: 1,
  auth: 2,
  queryAwareness: 3,
  stateless: 5,
  close: 7,
  syncStatus: 8,
  ping: 9,
  pong: 10,
} as const
const authMessages = { token: 0, permissionDenied: 1, authenticated: 2 } as const

/** Editors of one connection. */
const mostEditors = 1_000
/** Messages of an editor that wait until its token is checked. */
const mostWaiting = 64

interface Opened {
  name: string
  voice: Voice
  participant?: Participant
  session?: EditorSession
  /** What came while the token was checked. */
  waiting: Buffer[]
  isChecking: boolean
}

export class HocuspocusClient implements DialectClient {
  readonly needsToken = false
  readonly #connection: Connection
  readonly #hub: Hub
  readonly #identify: Arrival['identify']
  readonly #editors = new Map<string, Opened>()
  /** From the address or the headers; then the tokens of messages are not looked at. */
  #identity: Identity | undefined
  isIdentified = false

  constructor({ connection, hub, identify }: Arrival) {
    this.#connection = connection
    this.#hub = hub
    this.#identify = identify
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
    const type = decoding.readVarUint(decoder)
    if (type === messages.auth) return this.#authenticate(name, decoder)
    const editor = this.#editors.get(name)
    // After a denial the client's greeting still arrives.
    if (editor === undefined) return true
    if (editor.session === undefined) {
      editor.waiting.push(data)
      return editor.waiting.length <= mostWaiting
    }
    return this.#read(type, decoder, editor, editor.session)
  }

  #read(type: number, decoder: decoding.Decoder, editor: Opened, session: EditorSession): boolean {
    if (type === messages.sync) return readSync(decoder, session, true)
    if (type === messages.awareness) session.awareness(decoding.readVarUint8Array(decoder))
    else if (type === messages.queryAwareness) session.queryAwareness()
    else if (type === messages.close) this.#leave(editor)
    else return type === messages.stateless
    return true
  }

  #authenticate(name: string, decoder: decoding.Decoder): boolean {
    if (decoding.readVarUint(decoder) !== authMessages.token) return false
    const token = decoding.readVarString(decoder)
    const editor = this.#editors.get(name) ?? this.#newEditor(name)
    if (this.#editors.size > mostEditors) return false
    if (editor.isChecking) return true
    editor.isChecking = true
    this.#connection.hold()
    const identity = this.#identity ? Promise.resolve(this.#identity) : this.#identify(token)
    identity
      .then((identity) => this.#identified(editor, identity))
      .catch((error: unknown) => {
        if (error instanceof Denial) this.#end(editor, error.reason, error.message)
        else this.#end(editor, 'unavailable', 'The token could not be checked.')
      })
      .finally(() => {
        editor.isChecking = false
        this.#connection.release()
      })
    return true
  }

  #newEditor(name: string): Opened {
    const editor = { name, voice: createVoice(name), waiting: [], isChecking: false }
    this.#editors.set(name, editor)
    return editor
  }

  #identified(editor: Opened, identity: Identity): void {
    if (this.#editors.get(editor.name) !== editor || !this.#connection.isOpen) return
    this.isIdentified = true
    if (editor.participant) return editor.participant.renew(identity)
    const place = placeIn(editor.name.split('\0', 1)[0] as string)
    if (place === undefined) throw new Denial('badMessage', namePattern)
    const ended = (reason: CloseReason, message: string) => this.#end(editor, reason, message)
    editor.participant = this.#hub.join(this.#connection, identity, place, {
      opened: (role) => {
        this.#connection.send(authenticated(editor.name, role))
        editor.session?.open(place.editorId, { asks: false })
      },
      changed: (role) => this.#connection.send(authenticated(editor.name, role)),
      expiring: () => this.#connection.send(message(editor.name, [messages.auth, authMessages.token])),
      ended,
    })
    editor.session = new EditorSession({
      sessionId:
        this.#editors.size === 1 ? this.#connection.id : `${this.#connection.id}.${this.#editors.size}`,
      participant: editor.participant,
      voice: editor.voice,
      ended,
    })
    for (const data of editor.waiting.splice(0)) {
      if (!this.receive(data)) return this.#end(editor, 'badMessage', 'This is no message of the protocol.')
    }
  }

  #end(editor: Opened, reason: CloseReason, text: string): void {
    this.#leave(editor)
    if (!isFinal(reason)) return this.#connection.close(reason, text)
    this.#connection.send(message(editor.name, [messages.auth, authMessages.permissionDenied], text))
    this.#connection.send(message(editor.name, [messages.close], text))
  }

  #leave(editor: Opened): void {
    if (this.#editors.get(editor.name) === editor) this.#editors.delete(editor.name)
    editor.session?.leave()
    editor.participant?.leave()
  }

  keepAlive(): void {
    this.#connection.send(binaryFrame(Uint8Array.of(messages.ping)))
  }

  deny(reason: CloseReason, message: string): void {
    this.#connection.close(reason, message)
  }

  /** The close code says all that this protocol can. */
  move(): void {}

  closed(): void {
    for (const editor of [...this.#editors.values()]) this.#leave(editor)
  }
}

function message(name: string, types: readonly number[], text?: string): Buffer {
  const encoder = encoding.createEncoder()
  encoding.writeVarString(encoder, name)
  for (const type of types) encoding.writeVarUint(encoder, type)
  if (text !== undefined) encoding.writeVarString(encoder, text)
  return binaryFrame(encoding.toUint8Array(encoder))
}

const authenticated = (name: string, role: AccessRole) =>
  message(name, [messages.auth, authMessages.authenticated], role === 'editor' ? 'read-write' : 'readonly')

function createVoice(name: string): Voice {
  const prefix = encoding.encode((encoder) => encoding.writeVarString(encoder, name))
  const withBytes = (types: readonly number[], bytes: Uint8Array) => {
    const head = encoding.encode((encoder) => {
      for (const type of types) encoding.writeVarUint(encoder, type)
      encoding.writeVarUint(encoder, bytes.length)
    })
    return binaryFrame(prefix, head, bytes)
  }
  const status = (isSaved: boolean) =>
    binaryFrame(prefix, Uint8Array.of(messages.syncStatus, isSaved ? 1 : 0))
  return {
    key: `hocuspocus ${name}`,
    syncStep1: (stateVector) => withBytes([messages.sync, syncMessages.step1], stateVector),
    syncStep2: (update) => withBytes([messages.sync, syncMessages.step2], update),
    update: (update) => withBytes([messages.sync, syncMessages.update], update),
    awareness: (update) => withBytes([messages.awareness], update),
    saved: () => status(true),
    refused: () => status(false),
  }
}
