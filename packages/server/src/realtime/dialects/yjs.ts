import * as decoding from 'lib0/decoding'
import type { CloseReason } from '@plenum/protocol/realtime'
import type { Log } from '../../platform/log/log.ts'
import { emptyAwareness } from '../rooms/awareness/awareness-update.ts'
import type { Connection } from '../sockets/connection.ts'
import { EditorSession, type Voice } from '../editors/session.ts'
import { binaryFrame, binaryMessage, headOf } from '../sockets/frames.ts'
import type { Arrival, DialectClient } from '../gateway.ts'
import type { Hub } from '../editors/services.ts'
import type { Identity } from '../authorization/identify.ts'
import type { Participant } from '../documents/participant.ts'
import { namePattern } from '../documents/place.ts'
import type { Fault } from '../../crdt/updates/validate-update.ts'
import type { Place } from '../../store/editors/editors.ts'

/** The protocol of y-websocket: one editor for each connection. */
export const messages = { sync: 0, awareness: 1, queryAwareness: 3 } as const
export const syncMessages = { step1: 0, step2: 1, update: 2 } as const

export const withBytes = (types: readonly number[], bytes: Uint8Array): Buffer =>
  binaryFrame(headOf(types, bytes), bytes)

const syncStep1 = (stateVector: Uint8Array) => withBytes([messages.sync, syncMessages.step1], stateVector)
const syncStep2 = (update: Uint8Array) =>
  binaryMessage(headOf([messages.sync, syncMessages.step2], update), update)
const update = (bytes: Uint8Array) => withBytes([messages.sync, syncMessages.update], bytes)
const awareness = (bytes: Uint8Array) => withBytes([messages.awareness], bytes)

export const voice: Voice = {
  key: 'yjs',
  syncStep1,
  syncStep2,
  update,
  awareness,
  // What is new comes back with everybody's updates; the receipt for what was known comes back alone.
  saved: (_number, bytes, isNews) => (isNews ? undefined : update(bytes)),
}

/** What clients of another server do differently. */
export interface Variant {
  readonly voice: Voice
  /** What is wrong with the name, for clients without a place. */
  readonly namePattern: string
  /** False: clients open only what exists. */
  readonly mayCreate?: boolean
  /** The number under which the voice hears of an update, or with `isAnswer` of all that the server lacked. */
  numberOf?(isAnswer: boolean): number
  /** Other types of messages. */
  receive?(type: number, decoder: decoding.Decoder, session: EditorSession): void
}

const yWebsocket: Variant = { voice, namePattern }

export class YjsClient implements DialectClient {
  readonly needsToken = true
  /** With any code outside of 44xx clients connect and send the same again and again. */
  readonly excess = 'invalidUpdate'
  readonly #connection: Connection
  readonly #hub: Hub
  readonly #refuse: Arrival['refuse']
  readonly #log: Log
  readonly #place: Place | undefined
  readonly #variant: Variant
  #session: EditorSession | undefined
  #participant: Participant | undefined
  #hasLogged = false

  constructor({ connection, hub, refuse, log }: Arrival, place: Place | undefined, variant = yWebsocket) {
    this.#connection = connection
    this.#hub = hub
    this.#refuse = refuse
    this.#log = log
    this.#place = place
    this.#variant = variant
  }

  get isIdentified(): boolean {
    return this.#session !== undefined
  }

  enter(identity: Identity): void {
    const place = this.#place
    const { voice, namePattern, mayCreate } = this.#variant
    if (place === undefined) return this.deny('badMessage', namePattern)
    const ended = (reason: CloseReason, message: string) => {
      this.deny(reason, message)
      this.#leave()
    }
    this.#participant = this.#hub.documents.join(this.#connection, identity, place, {
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
      mayCreate,
    })
    this.#session = new EditorSession({
      sessionId: this.#connection.id,
      connection: this.#connection,
      participant: this.#participant,
      voice: {
        ...voice,
        refused: (number, fault, isRepeated) => {
          this.#logRefused(place, fault)
          return voice.refused?.(number, fault, isRepeated)
        },
      },
      ended,
    })
    this.#participant.start()
  }

  /**
   * Once for each connection. The client is sent nothing: the only message of the protocol that could say why an update is
   * refused is "permission denied" (type 2), and y-websocket prints it together with the address, which holds the user's
   * token.
   */
  #logRefused({ organizationId, documentId, editorId }: Place, { code, message }: Fault): void {
    if (this.#hasLogged || code === 'read_only') return
    this.#hasLogged = true
    const { apiKey, userId } = this.#connection.owner
    this.#log.warn(
      { apiKey, organizationId, documentId, editorId, userId, code },
      `an update of a Yjs client is refused: ${message}`,
    )
  }

  receive(data: Buffer): boolean {
    const session = this.#session
    if (session === undefined) return false
    const decoder = decoding.createDecoder(data)
    const type = decoding.readVarUint(decoder)
    if (type === messages.sync) return readSync(decoder, session, this.#variant)
    if (type === messages.awareness) session.awareness(decoding.readVarUint8Array(decoder))
    else if (type === messages.queryAwareness) session.queryAwareness()
    // Others, such as those that an application adds, are for servers that know them.
    else this.#variant.receive?.(type, decoder, session)
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
export function readSync(
  decoder: decoding.Decoder,
  session: EditorSession,
  { asksBack = false, numberOf = () => 0 }: { asksBack?: boolean } & Pick<Variant, 'numberOf'>,
): boolean {
  const type = decoding.readVarUint(decoder)
  const bytes = decoding.readVarUint8Array(decoder)
  if (type === syncMessages.step1) session.syncStep1(bytes, asksBack)
  else if (type === syncMessages.step2) session.update(numberOf(true), bytes, true)
  else if (type === syncMessages.update) session.update(numberOf(false), bytes, false)
  else return false
  return true
}
