import * as decoding from 'lib0/decoding'
import * as encoding from 'lib0/encoding'
import { ApiError } from '@plenum/protocol'
import { type AccessRole, type CloseReason, editorFrames } from '@plenum/protocol/realtime'
import type { Declaration, Refusal } from '../../editors/declarations.ts'
import type { EditorRoom } from '../../rooms/room.ts'
import { statusOfFault } from '../../editors/fault-status.ts'
import { EditorSession, type Voice } from '../../editors/session.ts'
import { binaryFrame, binaryMessage, textFrame } from '../../sockets/frames.ts'
import { Receipts } from '../receipts.ts'
import type { VersionMessage } from '../../editors/version-requests.ts'
import type { JsonDocument } from './document.ts'
import type { EditorHost } from './editors.ts'

/** A request about versions counts as so many bytes of those that a client may send before it is answered. */
const versionRequestBytes = 32 * 1024

interface EditorOptions {
  host: EditorHost
  channel: number
  document: JsonDocument
  editorId: string
  /** Counts if the client may write. */
  declaration: Declaration | undefined
  opened: (role: AccessRole) => void
  /** The declaration is refused, and the editor stays open. */
  refused: (refusal: Refusal) => void
  ended: (reason: CloseReason, message: string) => void
}

/** An editor of a client at `/realtime`, under a channel that the client chose. */
export class JsonEditor {
  readonly channel: number
  readonly document: JsonDocument
  readonly editorId: string
  readonly #host: EditorHost
  readonly #session: EditorSession
  readonly #receipts = new Receipts()
  /** Resolves when its client has left it. */
  readonly left: Promise<void>
  #markLeft: () => void = () => {}
  #isTelling = false

  constructor({ host, channel, document, editorId, declaration, opened, refused, ended }: EditorOptions) {
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
      voice: this.#createVoice(),
      ended: (reason, message) => {
        this.#markLeft()
        ended(reason, message)
      },
    })
    document.run(() =>
      this.#session.open(editorId, {
        describe: (room) => {
          if (declaration && participant.canWrite) this.#declare(room, declaration, refused)
          opened(participant.role ?? 'viewer')
        },
      }),
    )
  }

  /** The client is not read meanwhile, so that it has one declaration in progress at a time. */
  #declare(room: EditorRoom, declaration: Declaration, refused: EditorOptions['refused']): void {
    const { connection } = this.document
    connection.hold()
    void this.document.declare(room, declaration).then((refusal) => {
      if (refusal) refused(refusal)
      connection.release()
    })
  }

  /** False if it is no frame of the protocol. */
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

  requestVersions(message: VersionMessage, bytes: number): void {
    const run = () => void this.#runVersions(message, bytes)
    if (message.type === 'listVersions') this.document.run(run)
    // A version holds what its client sent before.
    else this.#session.afterUpdates(run)
  }

  async #runVersions(message: VersionMessage, bytes: number): Promise<void> {
    const { hub, backlog } = this.#host
    const { editorId, channel } = this
    const { participant, place } = this.document
    const { id } = message
    backlog.add(versionRequestBytes)
    const answer = await hub.versions.run(participant, { ...place, editorId }, message, bytes)
    backlog.settle(versionRequestBytes)
    // Nothing more is said of a document that is closed.
    if (participant.hasEnded) return
    if (!(answer instanceof ApiError)) return this.#host.send({ type: 'done', id, ...answer })
    this.#host.send({ type: 'error', id, channel, status: answer.status, message: answer.message })
  }

  /** The client may write now: it is asked for what was refused before. */
  mayWrite(): void {
    this.#session.mayWrite()
  }

  /** Leaves once what was sent has been looked at. */
  finish(): void {
    this.#session.finish(() => this.leave())
  }

  leave(): void {
    this.#session.leave()
    this.#markLeft()
  }

  #createVoice(): Voice {
    const { channel } = this
    const withBytes = (kind: keyof typeof editorFrames) => (bytes: Uint8Array) =>
      binaryFrame(head(channel, kind, bytes.length), bytes)
    return {
      key: `realtime ${channel}`,
      syncStep1: withBytes('syncStep1'),
      syncStep2: (bytes) => binaryMessage(head(channel, 'syncStep2', bytes.length), bytes),
      update: withBytes('update'),
      awareness: withBytes('awareness'),
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

  /** What a tick has stored is confirmed together. */
  #settle(number: number, outcome: 'saved' | 'refused'): void {
    this.#receipts.settle(number, outcome)
    if (this.#isTelling) return
    this.#isTelling = true
    queueMicrotask(() => {
      this.#isTelling = false
      const saved = this.#receipts.takeSaved()
      if (saved !== undefined) this.#session.send(binaryFrame(head(this.channel, 'saved', saved)))
    })
  }
}

function begin(channel: number, kind: keyof typeof editorFrames): encoding.Encoder {
  const encoder = encoding.createEncoder()
  encoding.writeVarUint(encoder, channel)
  encoding.writeVarUint(encoder, editorFrames[kind])
  return encoder
}

function head(channel: number, kind: keyof typeof editorFrames, number: number): Uint8Array {
  const encoder = begin(channel, kind)
  encoding.writeVarUint(encoder, number)
  return encoding.toUint8Array(encoder)
}
