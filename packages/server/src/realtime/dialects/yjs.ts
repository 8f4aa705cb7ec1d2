import * as decoding from 'lib0/decoding'
import type { CloseReason } from '@plenum/protocol/realtime'
import type { Fault } from '../../crdt/updates/fault.ts'
import type { EditorRef } from '../../store/refs.ts'
import type { Identity } from '../authorization/identity.ts'
import type { Participant, ParticipantListener } from '../documents/participant.ts'
import { namePattern } from '../documents/editor-name.ts'
import type { EditorCodec, SessionListener } from '../editors/dialect-side.ts'
import { EditorSession } from '../editors/session.ts'
import { emptyAwareness } from '../rooms/awareness/awareness-update.ts'
import { binaryFrame, binaryMessage, pingFrame, yjsHeader } from '../sockets/frames.ts'
import type { DialectClient, DialectContext } from './dialect.ts'
import { readSync, syncMessages, type SyncOptions } from './yjs-sync.ts'

/** The message types of y-websocket. */
const messages = { sync: 0, awareness: 1, queryAwareness: 3 } as const

/** Encodes a frame: these message types, the length of the bytes, and the bytes. */
export const frameWith = (types: readonly number[], bytes: Uint8Array): Buffer =>
  binaryFrame(yjsHeader(types, bytes), bytes)

const syncStep1 = (stateVector: Uint8Array) => frameWith([messages.sync, syncMessages.step1], stateVector)
const syncStep2 = (update: Uint8Array) =>
  binaryMessage(yjsHeader([messages.sync, syncMessages.step2], update), update)
const update = (bytes: Uint8Array) => frameWith([messages.sync, syncMessages.update], bytes)
const awareness = (bytes: Uint8Array) => frameWith([messages.awareness], bytes)

/** An awareness update without states has no effect. */
const pingFrames = Buffer.concat([awareness(emptyAwareness), pingFrame])

export const yjsCodec: EditorCodec = {
  key: 'yjs',
  syncStep1,
  syncStep2,
  update,
  awareness,
  // The broadcast of a new update is its acknowledgement. A duplicate is not broadcast, so it is echoed to its sender.
  saved: (_number, bytes, hasChanges) => (hasChanges ? undefined : update(bytes)),
}

/** How clients of a similar protocol differ from clients of y-websocket. */
export interface YjsVariant extends Pick<SyncOptions, 'numberOf'> {
  readonly codec: EditorCodec
  /** The close message for a path that does not name an editor. */
  readonly namePattern: string
  /** If false, clients open only documents that exist. Default: true. */
  readonly mayCreate?: boolean
  /** Receives message types that y-websocket does not have. */
  receive?(type: number, decoder: decoding.Decoder, session: EditorSession): void
}

const yWebsocket: YjsVariant = { codec: yjsCodec, namePattern }

/** A client of y-websocket. Its connection has one editor. */
export class YjsClient implements DialectClient, ParticipantListener, SessionListener {
  readonly needsToken = true
  readonly pingFrames = pingFrames
  /** After any code but 44xx, the client reconnects and sends the same message again, forever. */
  readonly oversizeReason = 'invalidUpdate'
  readonly #context: DialectContext
  readonly #ref: EditorRef | undefined
  readonly #variant: YjsVariant
  #session: EditorSession | undefined
  #participant: Participant | undefined
  #hasLoggedRefusal = false

  /** `ref` is undefined if the path of the URL does not name an editor. */
  constructor(context: DialectContext, ref: EditorRef | undefined, variant = yWebsocket) {
    this.#context = context
    this.#ref = ref
    this.#variant = variant
  }

  get mayCreate(): boolean {
    return this.#variant.mayCreate ?? true
  }

  get isIdentified(): boolean {
    return this.#session !== undefined
  }

  onIdentified(identity: Identity): void {
    const ref = this.#ref
    const { codec, namePattern } = this.#variant
    if (ref === undefined) return this.deny('badMessage', namePattern)
    const { connection, services } = this.#context
    this.#participant = services.documents.join(connection, identity, ref, this)
    this.#session = new EditorSession({
      sessionId: connection.id,
      connection,
      participant: this.#participant,
      codec,
      listener: this,
    })
    this.#participant.start()
  }

  onOpened(): void {
    if (this.#ref) this.#session?.open(this.#ref.editorId)
  }

  onRoleChanged(): void {
    this.#session?.onRoleChanged()
  }

  onClosed(reason: CloseReason, message: string): void {
    // A client that had access is closed immediately, however often it was refused before.
    if (this.#participant?.role !== undefined) this.#context.connection.close(reason, message)
    else this.deny(reason, message)
    this.#leave()
  }

  onEditorClosed(reason: CloseReason, message: string): void {
    this.deny(reason, message)
    this.#leave()
  }

  /**
   * Logs the first refused update of the connection, except for updates of viewers. The client gets no message: the only
   * message of the protocol with a reason is "permission denied" (type 2), and y-websocket prints it together with the URL,
   * which contains the user's token.
   */
  onUpdateRefused({ code, message }: Fault): void {
    if (this.#hasLoggedRefusal || code === 'read_only' || this.#ref === undefined) return
    this.#hasLoggedRefusal = true
    const { organizationId, documentId, editorId } = this.#ref
    const { apiKey, userId } = this.#context.connection.owner
    this.#context.log.warn(
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
    // Unknown types are ignored: applications may add messages of their own.
    else this.#variant.receive?.(type, decoder, session)
    return true
  }

  deny(reason: CloseReason, message: string): void {
    this.#context.refuse(reason, message)
    this.onDisconnected()
  }

  /** The protocol has no message that asks a client to reconnect. The close code follows. */
  onDrain(): void {}

  onDisconnected(): void {
    this.#session?.prepareToLeave(() => this.#leave())
  }

  #leave(): void {
    this.#session?.leave()
    this.#participant?.leave()
  }
}
