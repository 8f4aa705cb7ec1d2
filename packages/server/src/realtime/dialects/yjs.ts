import * as decoding from 'lib0/decoding'
import type { CloseReason } from '@plenum/protocol/realtime'
import type { Log } from '../../platform/log.ts'
import { emptyAwareness } from '../awareness-update.ts'
import type { Connection } from '../connection.ts'
import { EditorSession, type Voice } from '../editor-session.ts'
import { binaryFrame, binaryMessage, headOf } from '../frames.ts'
import type { Arrival, DialectClient } from '../gateway.ts'
import type { Hub } from '../hub.ts'
import type { Identity } from '../identify.ts'
import type { Participant } from '../participant.ts'
import { namePattern, placeIn } from '../place.ts'
import type { Fault } from '../validate-update.ts'

/** The protocol of y-websocket: one editor for each connection. */
export const messages = { sync: 0, awareness: 1, queryAwareness: 3 } as const
export const syncMessages = { step1: 0, step2: 1, update: 2 } as const

const withBytes = (types: readonly number[], bytes: Uint8Array): Buffer =>
  binaryFrame(headOf(types, bytes), bytes)

const syncStep1 = (stateVector: Uint8Array) => withBytes([messages.sync, syncMessages.step1], stateVector)
const syncStep2 = (update: Uint8Array) =>
  binaryMessage(headOf([messages.sync, syncMessages.step2], update), update)
const update = (bytes: Uint8Array) => withBytes([messages.sync, syncMessages.update], bytes)
const awareness = (bytes: Uint8Array) => withBytes([messages.awareness], bytes)

const voice: Voice = {
  key: 'yjs',
  syncStep1,
  syncStep2,
  update,
  awareness,
  // What is new comes back with everybody's updates; the receipt for what was known comes back alone.
  saved: (_number, bytes, isNews) => (isNews ? undefined : update(bytes)),
}

export class YjsClient implements DialectClient {
  readonly needsToken = true
  /** With any code outside of 44xx clients connect and send the same again and again. */
  readonly excess = 'invalidUpdate'
  readonly #connection: Connection
  readonly #hub: Hub
  readonly #refuse: Arrival['refuse']
  readonly #log: Log
  readonly #name: string
  #session: EditorSession | undefined
  #participant: Participant | undefined
  #hasLogged = false

  constructor({ connection, hub, refuse, log }: Arrival, name: string) {
    this.#connection = connection
    this.#hub = hub
    this.#refuse = refuse
    this.#log = log
    this.#name = name
  }

  get isIdentified(): boolean {
    return this.#session !== undefined
  }

  enter(identity: Identity): void {
    const place = placeIn(this.#name)
    if (place === undefined) return this.deny('badMessage', namePattern)
    const ended = (reason: CloseReason, message: string) => {
      this.deny(reason, message)
      this.#leave()
    }
    this.#participant = this.#hub.join(this.#connection, identity, place, {
      opened: () => this.#session?.open(place.editorId),
      changed: (role) => {
        if (role === 'editor') this.#session?.mayWrite()
      },
      ended: (reason, message) => {
        // A client that loses the access it had is closed at once, however often it was refused before.
        if (this.#participant?.role !== undefined) this.#connection.close(reason, message)
        else this.deny(reason, message)
        this.#leave()
      },
    })
    this.#session = new EditorSession({
      sessionId: this.#connection.id,
      participant: this.#participant,
      voice: { ...voice, refused: (_number, fault) => this.#logRefused(fault) },
      ended,
    })
  }

  /**
   * Once for each connection. The client is sent nothing: the only message of the protocol that could say why an update is refused is "permission
   * denied" (type 2), and y-websocket prints it together with the address, which holds the user's token.
   */
  #logRefused({ code, message }: Fault): undefined {
    if (this.#hasLogged || code === 'read_only') return
    this.#hasLogged = true
    const { userId } = this.#connection.owner
    this.#log.warn({ editor: this.#name, userId, code }, `an update from y-websocket is refused: ${message}`)
  }

  receive(data: Buffer): boolean {
    const session = this.#session
    if (session === undefined) return false
    const decoder = decoding.createDecoder(data)
    const type = decoding.readVarUint(decoder)
    if (type === messages.sync) return readSync(decoder, session)
    if (type === messages.awareness) session.awareness(decoding.readVarUint8Array(decoder))
    else if (type === messages.queryAwareness) session.queryAwareness()
    // Others, such as those that an application adds, are for servers that know them.
    return true
  }

  keepAlive(): void {
    this.#connection.send(awareness(emptyAwareness))
  }

  deny(reason: CloseReason, message: string): void {
    this.#refuse(reason, message)
    this.closed()
  }

  /** The close code says all that this protocol can. */
  move(): void {}

  closed(): void {
    this.#session?.finish(() => this.#leave())
  }

  #leave(): void {
    this.#session?.leave()
    this.#participant?.leave()
  }
}

/** Whether the sync message that follows asks for what the client lacks. */
export const isQuestion = (decoder: decoding.Decoder): boolean =>
  decoding.peekVarUint(decoder) === syncMessages.step1

/** The part that the dialects of Yjs share. With `asksBack`, a question is answered with an answer and a question. */
export function readSync(decoder: decoding.Decoder, session: EditorSession, asksBack = false): boolean {
  const type = decoding.readVarUint(decoder)
  const bytes = decoding.readVarUint8Array(decoder)
  if (type === syncMessages.step1) session.syncStep1(bytes, asksBack)
  else if (type === syncMessages.step2) session.update(0, bytes, true)
  else if (type === syncMessages.update) session.update(0, bytes, false)
  else return false
  return true
}
