import * as decoding from 'lib0/decoding'
import * as encoding from 'lib0/encoding'
import { ApiError } from '@plenum/protocol'
import { type AccessRole, type CloseReason, editorFrames } from '@plenum/protocol/realtime'
import type { Declaration, DeclarationRefusal } from '../../editors/declarations.ts'
import { statusOfFault } from '../../editors/fault-status.ts'
import type { EditorCodec } from '../../editors/dialect-side.ts'
import { EditorSession } from '../../editors/session.ts'
import type { VersionRequest } from '../../editors/version-requests.ts'
import type { EditorRoom } from '../../rooms/room.ts'
import { binaryFrame, binaryMessage, textFrame } from '../../sockets/frames.ts'
import type { JsonDocument } from './document.ts'
import type { JsonHost } from './host.ts'
import { Receipts } from './receipts.ts'
import { JsonRequest } from './request.ts'

/** What an unanswered version request adds to the backlog of its client. */
const versionRequestBytes = 32 * 1024

interface EditorOptions {
  host: JsonHost
  channel: number
  document: JsonDocument
  editorId: string
  /** What the client declares about the content. Ignored if the client may not write. */
  declaration: Declaration | undefined
  onOpened: (role: AccessRole) => void
  /** The declaration is refused; the editor stays open. */
  onDeclarationRefused: (refusal: DeclarationRefusal) => void
  onClosed: (reason: CloseReason, message: string) => void
}

/** An editor of a client at `/realtime`, under a channel that the client chose. */
export class JsonEditor {
  readonly channel: number
  readonly document: JsonDocument
  readonly editorId: string
  readonly #host: JsonHost
  readonly #session: EditorSession
  readonly #receipts = new Receipts()
  /** Resolves when the client has left the editor. */
  readonly left: Promise<void>
  #markLeft: () => void = () => {}
  #isReceiptScheduled = false

  constructor(options: EditorOptions) {
    const { host, channel, document, editorId, declaration, onOpened, onDeclarationRefused } = options
    this.#host = host
    this.channel = channel
    this.document = document
    this.editorId = editorId
    this.left = new Promise((resolve) => {
      this.#markLeft = resolve
    })
    const { participant, connection } = document
    this.#session = new EditorSession({
      sessionId: `${connection.id}.${channel}`,
      connection,
      participant,
      codec: this.#createCodec(),
      listener: {
        onEditorClosed: (reason, message) => {
          this.#markLeft()
          options.onClosed(reason, message)
        },
      },
    })
    document.run(() =>
      this.#session.open(editorId, {
        onLoaded: (room) => {
          if (declaration && participant.hasWriteRole) this.#declare(room, declaration, onDeclarationRefused)
          onOpened(participant.role ?? 'viewer')
        },
      }),
    )
  }

  /** Holds the connection meanwhile, so that a client has few declarations in progress at a time. */
  #declare(
    room: EditorRoom,
    declaration: Declaration,
    onRefused: (refusal: DeclarationRefusal) => void,
  ): void {
    const { connection } = this.document
    connection.hold()
    void this.document.declare(room, declaration).then((refusal) => {
      if (refusal) onRefused(refusal)
      connection.release()
    })
  }

  /** Handles a frame. Returns false if it is not part of the protocol. */
  receive(decoder: decoding.Decoder): boolean {
    const kind = decoding.readVarUint(decoder)
    const isUpdate = kind === editorFrames.syncStep2 || kind === editorFrames.update
    const number = isUpdate ? decoding.readVarUint(decoder) : 0
    const bytes = decoding.readVarUint8Array(decoder)
    if (decoding.hasContent(decoder)) return false
    if (isUpdate) {
      if (!this.#receipts.expect(number)) return false
      this.#session.update(number, bytes, kind === editorFrames.syncStep2)
    } else if (kind === editorFrames.syncStep1) this.#session.syncStep1(bytes, false)
    else if (kind === editorFrames.awareness) this.#session.awareness(bytes)
    else return false
    return true
  }

  requestVersions(message: VersionRequest, bytes: number): void {
    const run = () => void this.#runVersionRequest(message, bytes)
    if (message.type === 'listVersions') this.document.run(run)
    // A version must contain the updates that the client sent before.
    else this.#session.afterUpdates(run)
  }

  async #runVersionRequest(message: VersionRequest, bytes: number): Promise<void> {
    const { participant, documentRef } = this.document
    const request = new JsonRequest<VersionRequest['type']>(this.#host, message, versionRequestBytes)
    const editorRef = { ...documentRef, editorId: this.editorId }
    const result = await this.#host.services.versions.run(participant, editorRef, message, bytes)
    // The client gets no messages about a document that is closed.
    if (participant.hasLeft) request.drop()
    else if (result instanceof ApiError) request.refuse(result)
    else request.done(result)
  }

  onRoleChanged(): void {
    this.#session.onRoleChanged()
  }

  /** Leaves once the messages that the client sent before are handled. */
  leaveAfterMessages(): void {
    this.#session.prepareToLeave(() => this.leave())
  }

  leave(): void {
    this.#session.leave()
    this.#markLeft()
  }

  #createCodec(): EditorCodec {
    const { channel } = this
    const frameOf = (kind: keyof typeof editorFrames) => (bytes: Uint8Array) =>
      binaryFrame(headerOf(channel, kind, bytes.length), bytes)
    return {
      key: `realtime ${channel}`,
      syncStep1: frameOf('syncStep1'),
      syncStep2: (bytes) => binaryMessage(headerOf(channel, 'syncStep2', bytes.length), bytes),
      update: frameOf('update'),
      awareness: frameOf('awareness'),
      versionEvent: (event) => textFrame(JSON.stringify({ ...event, channel })),
      saved: (number) => {
        this.#settle(number, 'saved')
        return undefined
      },
      refused: (number, fault) => {
        this.#settle(number, 'refused')
        const encoder = begin(channel, 'refused')
        encoding.writeVarUint(encoder, number)
        encoding.writeVarString(encoder, fault.message)
        encoding.writeVarString(encoder, statusOfFault(fault))
        return binaryFrame(encoding.toUint8Array(encoder))
      },
    }
  }

  /** Settles an update. One acknowledgement is sent for all updates that are settled together. */
  #settle(number: number, outcome: 'saved' | 'refused'): void {
    this.#receipts.settle(number, outcome)
    if (this.#isReceiptScheduled) return
    this.#isReceiptScheduled = true
    queueMicrotask(() => {
      this.#isReceiptScheduled = false
      const saved = this.#receipts.takeSaved()
      if (saved !== undefined) this.#session.send(binaryFrame(headerOf(this.channel, 'saved', saved)))
    })
  }
}

function begin(channel: number, kind: keyof typeof editorFrames): encoding.Encoder {
  const encoder = encoding.createEncoder()
  encoding.writeVarUint(encoder, channel)
  encoding.writeVarUint(encoder, editorFrames[kind])
  return encoder
}

function headerOf(channel: number, kind: keyof typeof editorFrames, number: number): Uint8Array {
  const encoder = begin(channel, kind)
  encoding.writeVarUint(encoder, number)
  return encoding.toUint8Array(encoder)
}
