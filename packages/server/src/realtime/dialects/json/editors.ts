import * as decoding from 'lib0/decoding'
import { ContentKey, type ErrorStatus } from '@plenum/protocol'
import {
  type ClientMessage,
  closeCodes,
  type CloseReason,
  type ServerMessage,
} from '@plenum/protocol/realtime'
import { Check } from 'typebox/value'
import type { Backlog } from '../../sockets/backlog.ts'
import type { Hub } from '../../editors/services.ts'
import { idPattern, isId } from '../../documents/place.ts'
import type { VersionMessage } from '../../editors/version-requests.ts'
import type { JsonDocument } from './document.ts'
import { JsonEditor } from './editor.ts'

type OpenEditor = Extract<ClientMessage, { type: 'openEditor' }>

/** Of one connection. */
const mostEditors = 1_000

/** What editors need of their client. */
export interface EditorHost {
  readonly hub: Hub
  readonly backlog: Backlog
  send(message: ServerMessage): void
}

/** The editors of a client at `/realtime`, of all its documents. */
export class JsonEditors {
  readonly #editors = new Map<number, JsonEditor>()
  /** Closed by the client; what it sent before is still being looked at. */
  readonly #finishing = new Set<JsonEditor>()
  readonly #host: EditorHost

  constructor(host: EditorHost) {
    this.#host = host
  }

  /** `find` gives the document, or tells the client that there is none. */
  open(message: OpenEditor, find: () => JsonDocument | undefined): void {
    const { ref, channel, editorId, contentType, contentKey } = message
    if (this.#editors.has(channel)) {
      return this.#refuse({ ref, channel }, 'ALREADY_EXISTS', 'An editor is open under this channel.')
    }
    const document = find()
    if (!document) return
    if (!isId(editorId)) return this.#tellClosed(channel, 'badMessage', `editorId ${idPattern}`)
    for (const other of this.#editors.values()) {
      if (other.document !== document || other.editorId !== editorId) continue
      const message = `The editor is already open on this connection, under channel ${other.channel}.`
      return this.#refuse({ ref, channel }, 'ALREADY_EXISTS', message)
    }
    if (contentKey !== undefined && !Check(ContentKey, contentKey)) {
      return this.#tellClosed(
        channel,
        'badMessage',
        'contentKey must have 1 to 256 characters and must not contain control characters.',
      )
    }
    if (Math.max(this.#editors.size, this.#finishing.size) >= mostEditors) {
      return this.#tellClosed(channel, 'tooMany', `A connection has at most ${mostEditors} editors open.`)
    }
    const editor = new JsonEditor({
      host: this.#host,
      channel,
      document,
      editorId,
      declaration: contentType || contentKey ? { type: contentType, contentKey } : undefined,
      opened: (accessRole) => this.#host.send({ type: 'editorOpened', channel, accessRole }),
      refused: ({ status, message }) => {
        if (this.#editors.get(channel) === editor) this.#refuse({ channel }, status, message)
      },
      ended: (reason, text) => {
        if (this.#editors.get(channel) !== editor) return
        this.#editors.delete(channel)
        this.#tellClosed(channel, reason, text)
      },
    })
    this.#editors.set(channel, editor)
  }

  /** The channel is free at once. */
  close(channel: number): void {
    const editor = this.#editors.get(channel)
    if (!editor) return
    this.#editors.delete(channel)
    this.#finishing.add(editor)
    void editor.left.then(() => this.#finishing.delete(editor))
    editor.finish()
  }

  async closeAllOf(document: JsonDocument): Promise<void> {
    for (const editor of this.#editors.values()) if (editor.document === document) this.close(editor.channel)
    const editors = [...this.#finishing].filter((editor) => editor.document === document)
    await Promise.all(editors.map((editor) => editor.left))
  }

  /** Without a word. */
  dropAllOf(document: JsonDocument): void {
    for (const editor of [...this.#editors.values(), ...this.#finishing]) {
      if (editor.document !== document) continue
      if (this.#editors.get(editor.channel) === editor) this.#editors.delete(editor.channel)
      editor.leave()
    }
  }

  mayWrite(document: JsonDocument): void {
    for (const editor of this.#editors.values()) if (editor.document === document) editor.mayWrite()
  }

  /** False if it is no frame of the protocol. */
  receive(data: Buffer): boolean {
    const decoder = decoding.createDecoder(data)
    const channel = decoding.readVarUint(decoder)
    const editor = this.#editors.get(channel)
    if (editor) return editor.receive(decoder)
    // It may have been closed while the frame was on its way.
    this.#refuse({ channel }, 'NOT_FOUND', 'No editor is open under this channel.')
    return true
  }

  requestVersions(message: VersionMessage, bytes: number): void {
    const { channel, id } = message
    const editor = this.#editors.get(channel)
    if (editor) editor.requestVersions(message, bytes)
    else this.#refuse({ id, channel }, 'NOT_FOUND', 'No editor is open under this channel.')
  }

  #tellClosed(channel: number, reason: CloseReason, text: string): void {
    this.#host.send({ type: 'editorClosed', channel, code: closeCodes[reason], reason: text })
  }

  #refuse(of: { ref?: number; id?: number; channel: number }, status: ErrorStatus, message: string): void {
    this.#host.send({ type: 'error', ...of, status, message })
  }
}
