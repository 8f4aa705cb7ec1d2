import { type ClientMessage, editorFrames, type ServerMessage } from '@plenum/protocol/realtime'
import { WebSocket } from 'ws'
import * as Y from 'yjs'
import { decodeFrame, encodeFrame } from '../packages/server/test/support/clients/editor-frames.ts'

/** The organization of all documents. Each document has one editor. */
export const organizationId = 'org_1'
export const editorId = 'note'

export interface EditorAddress {
  url: string
  token: string
  documentId: string
}

interface Write {
  number: number
  id: string
}

/**
 * One session of a client in an editor, at `/realtime`. It never sends an update twice: a client that sent again what the
 * server has lost would hide the loss. Each write is a word in the text.
 */
export class RawEditor {
  /** Whether the server has opened the editor. False: it has closed the session instead. */
  readonly opened: Promise<boolean>
  /** Resolves with the code when the session ends. */
  readonly ended: Promise<number>
  readonly #socket: WebSocket
  readonly #text: Y.Text
  readonly #onSaved: (ids: string[]) => void
  #writes: Write[] = []
  #lastNumber = 0
  #onOpened: (isOpen: boolean) => void = () => {}
  #onEnded: (code: number) => void = () => {}
  isEnded = false
  /** When the session began, or the server acknowledged something. */
  progressAt = performance.now()

  constructor(address: EditorAddress, onSaved: (ids: string[]) => void = () => {}) {
    const { url, token, documentId } = address
    this.#onSaved = onSaved
    this.opened = new Promise((resolve) => (this.#onOpened = resolve))
    this.ended = new Promise((resolve) => (this.#onEnded = resolve))
    const doc = new Y.Doc()
    this.#text = doc.getText('content')
    doc.on('update', (update: Uint8Array) => this.#send(update))
    this.#socket = new WebSocket(`${url.replace(/^http/, 'ws')}/realtime`, { perMessageDeflate: false })
    this.#socket.on('error', () => {})
    this.#socket.on('close', (code) => this.#end(code))
    this.#socket.on('message', (data: Buffer, isBinary) =>
      isBinary ? this.#onFrame(data) : this.#onMessage(JSON.parse(data.toString()) as ServerMessage),
    )
    const messages: ClientMessage[] = [
      { type: 'auth', token },
      { type: 'open', ref: 1, organizationId, documentId, topics: [] },
      { type: 'openEditor', ref: 1, channel: 1, editorId },
    ]
    this.#socket.on('open', () => {
      for (const message of messages) this.#socket.send(JSON.stringify(message))
    })
  }

  /** How many writes are not acknowledged. */
  get inFlight(): number {
    return this.#writes.length
  }

  write(id: string, padding = ''): void {
    this.#writes.push({ number: this.#lastNumber + 1, id })
    this.#text.insert(this.#text.length, `<${id}>${padding}`)
  }

  #send(update: Uint8Array): void {
    this.#socket.send(encodeFrame(1, 'update', update, ++this.#lastNumber), () => {})
  }

  #onFrame(data: Buffer): void {
    // The channel and the kind are one byte each.
    if (data[1] !== editorFrames.saved && data[1] !== editorFrames.refused) return
    const { kind, number = 0 } = decodeFrame(data)
    const isSettled = (write: Write) => (kind === 'saved' ? write.number <= number : write.number === number)
    const settled = this.#writes.filter(isSettled)
    this.#writes = this.#writes.filter((write) => !isSettled(write))
    this.progressAt = performance.now()
    if (kind === 'saved') this.#onSaved(settled.map(({ id }) => id))
  }

  #onMessage(message: ServerMessage): void {
    if (message.type === 'editorOpened') {
      this.progressAt = performance.now()
      this.#onOpened(true)
    } else if (message.type === 'closed' || message.type === 'editorClosed') this.#end(message.code)
  }

  #end(code: number): void {
    if (this.isEnded) return
    this.isEnded = true
    this.#onOpened(false)
    this.#onEnded(code)
    this.#socket.terminate()
  }

  /** Ends the connection without a closing handshake. */
  terminate(): void {
    this.#socket.terminate()
  }
}
