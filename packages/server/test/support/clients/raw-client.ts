import { WebSocket } from 'ws'
import * as Y from 'yjs'
import { textOf } from '../random/words.ts'
import { decodeAwareness, encodeAwareness } from './awareness-messages.ts'
import { TestSocket } from './raw-socket.ts'

export type Role = 'viewer' | 'editor'

/** The editor that a client opens, and its credentials. */
export interface EditorTarget {
  organizationId: string
  documentId: string
  editorId: string
  token?: string
  /** Headers of the handshake: the credentials of a backend, or an origin. */
  headers?: Record<string, string>
}

/** How the session of a client in an editor ended. Hocuspocus has no code if the socket stays open. */
export interface Ending {
  code?: number
  reason: string
}

export type MessageKind = 'syncStep1' | 'syncStep2' | 'update' | 'awareness'
export type WriteOutcome = 'saved' | 'refused'
export type AwarenessOutcome = 'broadcast' | 'refused'

export interface PendingWrite {
  number: number
  update: Uint8Array
  settle: (outcome: WriteOutcome) => void
}

interface ReadAnswer {
  /** The updates that arrived between the request and the answer. */
  updatesBefore: Uint8Array[]
  update: Uint8Array
}

/**
 * One client in one editor, with the same methods in every dialect, that sends any message at any time. Messages sent
 * before the socket is open are sent together when it opens. Every promise resolves with the answer of the server, or when
 * the session ends.
 */
export abstract class RawClient extends TestSocket {
  /** Resolves when the server ends the session or the socket closes. */
  readonly ended: Promise<Ending>
  /** Undefined until the session has ended. */
  ending: Ending | undefined
  /** All roles that the server sent; y-websocket and Y-Sweet have no message for a role. */
  readonly roles: Role[] = []
  /** The texts of all messages with which the server refused something. */
  readonly refusalTexts: string[] = []
  /** The state vectors with which the server requested missing updates. */
  readonly stateVectors: Uint8Array[] = []
  readonly target: EditorTarget
  protected writes: PendingWrite[] = []
  protected onOpened!: () => void
  protected onEnded!: (ending: Ending) => void
  readonly #opened: Promise<void>
  #writeCount = 0
  readonly #yjsClientId = new Y.Doc().clientID
  #awarenessClock = 0
  #reads: ((answer: ReadAnswer) => void)[] = []
  #updatesBeforeAnswer: Uint8Array[] = []
  readonly #checks = new Set<() => void>()
  #unsent: (Uint8Array | string)[] = []
  /** The clock and the state that the server sent last, by Yjs client id. */
  readonly #awareness = new Map<number, { clock: number; json: string }>()

  constructor(url: string, target: EditorTarget) {
    super(url, { headers: target.headers, perMessageDeflate: false })
    this.target = target
    this.#opened = new Promise((resolve) => (this.onOpened = resolve))
    this.ended = new Promise((resolve) => {
      this.onEnded = (ending) => {
        this.ending ??= ending
        resolve(ending)
      }
    })
    this.socket.on('open', () => {
      for (const message of [...this.firstMessages(target), ...this.#unsent.splice(0)])
        this.socket.send(message)
    })
    // Registered after the listener of `TestSocket`, so the message has been received.
    this.socket.on('message', () => this.#runChecks())
    void this.closed.then((close) => {
      this.onEnded(close)
      this.#runChecks()
    })
  }

  /** The messages that open the editor, and identify the client where the address does not. */
  protected abstract firstMessages(target: EditorTarget): (Uint8Array | string)[]

  /** Encodes a message as `update` and the other methods send it. */
  abstract encode(kind: MessageKind, bytes: Uint8Array, number: number): Uint8Array

  protected send(message: Uint8Array | string): void {
    if (this.socket.readyState === WebSocket.OPEN) this.socket.send(message)
    else this.#unsent.push(message)
  }

  /** Resolves when the editor is open, with the role if the dialect sends one, or with the ending. */
  opened(): Promise<{ role?: Role } | Ending> {
    const opened = this.#opened.then(() => (this.roles[0] ? { role: this.roles[0] } : {}))
    return Promise.race([opened, this.ended])
  }

  update(update: Uint8Array): Promise<WriteOutcome> {
    return this.#write('update', update)
  }

  syncStep2(update: Uint8Array): Promise<WriteOutcome> {
    return this.#write('syncStep2', update)
  }

  #write(kind: MessageKind, update: Uint8Array): Promise<WriteOutcome> {
    const number = ++this.#writeCount
    const outcome = new Promise<WriteOutcome>((settle) => this.writes.push({ number, update, settle }))
    this.send(this.encode(kind, update, number))
    return this.unlessEnded<WriteOutcome>(outcome, 'refused')
  }

  /** Requests the content and returns its text; undefined if the session ends instead. */
  async read(): Promise<string | undefined> {
    const answer = await this.#requestContent()
    return answer && textOf(answer.update)
  }

  /** Like `read`, with the updates before the answer, which contain the newest rows of a large document. */
  async readWithUpdates(): Promise<string | undefined> {
    const answer = await this.#requestContent()
    return answer && textOf(...answer.updatesBefore, answer.update)
  }

  #requestContent(): Promise<ReadAnswer | undefined> {
    const answer = new Promise<ReadAnswer>((resolve) => this.#reads.push(resolve))
    this.send(this.encode('syncStep1', Uint8Array.of(0), 0))
    return this.unlessEnded<ReadAnswer | undefined>(answer, undefined)
  }

  /** Sends an awareness state for any Yjs client id, of this client or of another one, and does not wait. */
  sendAwareness(yjsClientId: number, clock: number, state: object | null): void {
    this.send(this.encode('awareness', encodeAwareness(yjsClientId, clock, state), 0))
  }

  /** The awareness state that the server sent last for a Yjs client id; undefined if there is none. */
  awarenessOf(yjsClientId: number): unknown {
    return JSON.parse(this.#awareness.get(yjsClientId)?.json ?? 'null') ?? undefined
  }

  /** Sets the client's awareness state. `broadcast`: the server sent it to the clients of the editor, this one included. */
  setAwareness(state: object): Promise<AwarenessOutcome> {
    const clock = ++this.#awarenessClock
    this.sendAwareness(this.#yjsClientId, clock, state)
    return this.unlessEnded(
      this.until(() => (this.#awareness.get(this.#yjsClientId)?.clock ?? 0) >= clock).then(
        () => 'broadcast' as const,
      ),
      'refused',
    )
  }

  /**
   * Opens another editor on the same connection and returns the text of the first answer; undefined if the connection is
   * closed or the dialect has one editor per connection.
   */
  async openAnother(target: EditorTarget): Promise<string | undefined> {
    const messages = this.firstMessages(target)
    if (messages.length === 0 || this.socket.readyState !== WebSocket.OPEN) return undefined
    const answer = new Promise<Buffer>((resolve) => this.socket.once('message', resolve))
    for (const message of messages) this.socket.send(message)
    return (await answer).toString()
  }

  /** Resolves when the condition is true. Checks it after each message of the server. */
  until(condition: () => boolean): Promise<void> {
    if (condition()) return Promise.resolve()
    return new Promise((resolve) => {
      const check = () => {
        if (!condition()) return
        this.#checks.delete(check)
        resolve()
      }
      this.#checks.add(check)
    })
  }

  #runChecks(): void {
    for (const check of this.#checks) check()
  }

  protected unlessEnded<T>(promise: Promise<T>, otherwise: T): Promise<T> {
    return Promise.race([promise, this.ended.then(() => otherwise)])
  }

  protected settleFirst(outcome: WriteOutcome): void {
    this.writes.shift()?.settle(outcome)
  }

  protected onUpdate(_update: Uint8Array): void {}

  /** Handles a message that all dialects have. */
  protected onMessage(kind: MessageKind, bytes: Uint8Array): void {
    if (kind === 'syncStep1') this.stateVectors.push(bytes)
    else if (kind === 'syncStep2') {
      this.#reads.shift()?.({ updatesBefore: this.#updatesBeforeAnswer.splice(0), update: bytes })
    } else if (kind === 'update') {
      if (this.#reads.length > 0) this.#updatesBeforeAnswer.push(bytes)
      this.onUpdate(bytes)
    } else if (kind === 'awareness') {
      for (const { yjsClientId, clock, json } of decodeAwareness(bytes)) {
        this.#awareness.set(yjsClientId, { clock, json })
      }
    }
  }
}
