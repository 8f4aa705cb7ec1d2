import * as decoding from 'lib0/decoding'
import { chosenIdRule, ContentKey, isChosenId } from '@plenum/protocol'
import { closeCodes, type CloseReason } from '@plenum/protocol/realtime'
import { Check } from 'typebox/value'
import type { MessageOf, Subject } from '../../messages/message.ts'
import type { JsonDocument } from './document.ts'
import { JsonEditor } from './editor.ts'
import type { JsonHost } from './host.ts'

/** Limit of each connection. */
const maxEditors = 1_000

/** The editors of a client at `/realtime`, of all its documents. */
export class JsonEditors {
  readonly #editors = new Map<number, JsonEditor>()
  /** Editors that the client has closed, while messages that it sent before are still being handled. */
  readonly #leaving = new Set<JsonEditor>()
  readonly #host: JsonHost

  constructor(host: JsonHost) {
    this.#host = host
  }

  /** Opens an editor. `find` returns its document, or sends an error if none is open under the ref. */
  open(message: MessageOf<'openEditor'>, find: () => JsonDocument | undefined): void {
    const { ref, channel, editorId, contentType, contentKey } = message
    if (this.#editors.has(channel)) {
      return this.#host.refuse({ ref, channel }, 'ALREADY_EXISTS', 'An editor is open under this channel.')
    }
    const document = find()
    if (!document) return
    if (!isChosenId(editorId)) return this.#sendClosed(channel, 'badMessage', `editorId ${chosenIdRule}`)
    for (const other of this.#editors.values()) {
      if (other.document !== document || other.editorId !== editorId) continue
      const message = `The editor is already open on this connection, under channel ${other.channel}.`
      return this.#host.refuse({ ref, channel }, 'ALREADY_EXISTS', message)
    }
    if (contentKey !== undefined && !Check(ContentKey, contentKey)) {
      return this.#sendClosed(
        channel,
        'badMessage',
        'contentKey must have 1 to 256 characters and must not contain control characters.',
      )
    }
    if (Math.max(this.#editors.size, this.#leaving.size) >= maxEditors) {
      return this.#sendClosed(channel, 'tooMany', `A connection has at most ${maxEditors} editors open.`)
    }
    const editor = new JsonEditor({
      host: this.#host,
      channel,
      document,
      editorId,
      declaration: contentType || contentKey ? { type: contentType, contentKey } : undefined,
      onOpened: (accessRole) => this.#host.send({ type: 'editorOpened', channel, accessRole }),
      onDeclarationRefused: ({ status, message }) => {
        if (this.#editors.get(channel) === editor) this.#host.refuse({ channel }, status, message)
      },
      onClosed: (reason, text) => {
        if (this.#editors.get(channel) !== editor) return
        this.#editors.delete(channel)
        this.#sendClosed(channel, reason, text)
      },
    })
    this.#editors.set(channel, editor)
  }

  /** Closes an editor for the client. Its channel can be reused immediately. */
  close(channel: number): void {
    const editor = this.#editors.get(channel)
    if (!editor) return
    this.#editors.delete(channel)
    this.#leaving.add(editor)
    void editor.left.then(() => this.#leaving.delete(editor))
    editor.leaveAfterMessages()
  }

  /** Closes all editors of the document for the client. Resolves when the client has left them. */
  async closeAllOf(document: JsonDocument): Promise<void> {
    for (const editor of this.#editors.values()) if (editor.document === document) this.close(editor.channel)
    const editors = [...this.#leaving].filter((editor) => editor.document === document)
    await Promise.all(editors.map((editor) => editor.left))
  }

  /** Leaves all editors of the document immediately, without a message to the client. */
  leaveAllOf(document: JsonDocument): void {
    for (const editor of [...this.#editors.values(), ...this.#leaving]) {
      if (editor.document !== document) continue
      if (this.#editors.get(editor.channel) === editor) this.#editors.delete(editor.channel)
      editor.leave()
    }
  }

  onRoleChanged(document: JsonDocument): void {
    for (const editor of this.#editors.values()) if (editor.document === document) editor.onRoleChanged()
  }

  /** Handles a frame. Returns false if it is not part of the protocol. */
  receive(data: Buffer): boolean {
    const decoder = decoding.createDecoder(data)
    // A missing editor is not a reason to close: the server may have closed it while the frame was in flight.
    return this.find({ channel: decoding.readVarUint(decoder) })?.receive(decoder) ?? true
  }

  /** Returns the editor under the channel of a message. Refuses the message if there is none. */
  find({ channel, id }: Subject & { channel: number }): JsonEditor | undefined {
    const editor = this.#editors.get(channel)
    if (!editor) this.#host.refuse({ id, channel }, 'NOT_FOUND', 'No editor is open under this channel.')
    return editor
  }

  #sendClosed(channel: number, reason: CloseReason, text: string): void {
    this.#host.send({ type: 'editorClosed', channel, code: closeCodes[reason], reason: text })
  }
}
