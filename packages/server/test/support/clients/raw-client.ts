import { WebSocket } from 'ws'
import * as Y from 'yjs'
import { awarenessIn, awarenessOf, textOf } from '../words.ts'

export type Role = 'viewer' | 'editor'

export interface Door {
  organizationId: string
  documentId: string
  editorId: string
  token?: string
  /** Of the handshake: the credentials of a backend, an origin. */
  headers?: Record<string, string>
}

/** How a client was sent away. The Hocuspocus provider knows no codes, as long as the socket stays. */
export interface Refusal {
  code?: number
  reason: string
}

export type Kind = 'syncStep1' | 'syncStep2' | 'update' | 'awareness'
export type Written = 'saved' | 'refused'
export type Told = 'told' | 'refused'

export interface Write {
  number: number
  update: Uint8Array
  settle: (outcome: Written) => void
}

interface Answer {
  before: Uint8Array[]
  update: Uint8Array
}

const open = new Set<RawClient>()
/** Ends what a test has left open. */
export function endRawClients(): void {
  for (const client of open) client.socket.terminate()
  open.clear()
}

/**
 * One client in one editor, who sends what it likes when it likes: whatever is called before the server has answered
 * leaves in one go. Every promise resolves by what the server says, or with the end of the session.
 */
export abstract class RawClient {
  readonly socket: WebSocket
  /** Resolves when the client may not be there, or not any more. */
  readonly ended: Promise<Refusal>
  /** Set from then on. */
  refusal: Refusal | undefined
  /** Roles as they were told; the protocol of y-websocket tells none. */
  readonly roles: Role[] = []
  /** Sentences by which something was refused. */
  readonly denials: string[] = []
  readonly #opened: Promise<void>
  protected open!: () => void
  protected end!: (refusal: Refusal) => void
  readonly door: Door
  protected writes: Write[] = []
  #written = 0
  readonly #clientId = new Y.Doc().clientID
  #clock = 0
  #reads: ((answer: Answer) => void)[] = []
  /** Updates that came while an answer was awaited. */
  #beforeAnswer: Uint8Array[] = []
  readonly #noticed = new Set<() => void>()
  #unsent: (Uint8Array | string)[] = []
  readonly #known = new Map<number, number>()
  readonly #states = new Map<number, string>()

  constructor(address: string, door: Door) {
    this.door = door
    this.#opened = new Promise((resolve) => (this.open = resolve))
    this.ended = new Promise((resolve) => {
      this.end = (refusal) => {
        this.refusal ??= refusal
        resolve(refusal)
      }
    })
    this.socket = new WebSocket(address, { headers: door.headers, perMessageDeflate: false })
    open.add(this)
    this.socket.on('error', () => {})
    this.socket.on('open', () => {
      for (const message of [...this.greetingFor(door), ...this.#unsent.splice(0)]) this.socket.send(message)
    })
    this.socket.on('message', (data: Buffer, isBinary) => {
      this.receive(data, isBinary)
      for (const notice of this.#noticed) notice()
    })
    this.socket.on('close', (code, reason) => {
      this.end({ code, reason: reason.toString() })
      for (const notice of this.#noticed) notice()
      open.delete(this)
    })
  }

  /** How the client introduces itself where the address does not do it. */
  protected abstract greetingFor(door: Door): (Uint8Array | string)[]
  protected abstract frame(kind: Kind, bytes: Uint8Array, number: number): Uint8Array
  protected abstract receive(data: Buffer, isBinary: boolean): void

  /** A message as `update` and the like send it. */
  messageOf(kind: Kind, bytes: Uint8Array, number: number): Uint8Array {
    return this.frame(kind, bytes, number)
  }

  protected send(message: Uint8Array | string): void {
    if (this.socket.readyState === WebSocket.OPEN) this.socket.send(message)
    else this.#unsent.push(message)
  }

  /** Resolves with the role, where it is told, or with how the client was turned away. */
  entered(): Promise<{ role?: Role } | Refusal> {
    const opened = this.#opened.then(() => (this.roles[0] ? { role: this.roles[0] } : {}))
    return Promise.race([opened, this.ended])
  }

  update(update: Uint8Array): Promise<Written> {
    return this.#write('update', update)
  }

  syncStep2(update: Uint8Array): Promise<Written> {
    return this.#write('syncStep2', update)
  }

  #write(kind: Kind, update: Uint8Array): Promise<Written> {
    const number = ++this.#written
    const outcome = new Promise<Written>((settle) => this.writes.push({ number, update, settle }))
    this.send(this.frame(kind, update, number))
    return this.unlessEnded<Written>(outcome, 'refused')
  }

  /** The text of the editor as the answer has it; undefined for those who may not read it. */
  async read(): Promise<string | undefined> {
    const answer = await this.#ask()
    return answer && textOf(answer.update)
  }

  /** The same with what came as an update before the answer: so come the newest rows of a large document. */
  async readWithUpdates(): Promise<string | undefined> {
    const answer = await this.#ask()
    return answer && textOf(...answer.before, answer.update)
  }

  #ask(): Promise<Answer | undefined> {
    const answer = new Promise<Answer>((resolve) => this.#reads.push(resolve))
    this.send(this.frame('syncStep1', Uint8Array.of(0), 0))
    return this.unlessEnded<Answer | undefined>(answer, undefined)
  }

  /** Says something of a Yjs client, its own or another's, and does not wait for anything. */
  sendAwareness(client: number, clock: number, state: object | null): void {
    this.send(this.frame('awareness', awarenessOf(client, clock, state), 0))
  }

  /** The awareness state of a Yjs client as the server sent it; undefined if there is none. */
  stateOf(client: number): unknown {
    return JSON.parse(this.#states.get(client) ?? 'null') ?? undefined
  }

  /** `told`: everyone in the editor was, and so was the client itself. */
  awareness(state: object): Promise<Told> {
    const clock = ++this.#clock
    this.sendAwareness(this.#clientId, clock, state)
    return this.unlessEnded(
      this.until(() => (this.#known.get(this.#clientId) ?? 0) >= clock).then(() => 'told' as const),
      'refused',
    )
  }

  /** The answer to the first words in another editor on the same connection, if it is still there. */
  async tryAnother(door: Door): Promise<string | undefined> {
    const words = this.greetingFor(door)
    if (words.length === 0 || this.socket.readyState !== WebSocket.OPEN) return undefined
    const answer = new Promise<Buffer>((resolve) => this.socket.once('message', resolve))
    for (const word of words) this.socket.send(word)
    return (await answer).toString()
  }

  /** Everything that was sent has reached the server. */
  async arrived(): Promise<void> {
    if (this.socket.readyState !== WebSocket.OPEN) return
    const pong = new Promise((resolve) => this.socket.once('pong', resolve))
    this.socket.ping()
    await this.unlessClosed(pong)
  }

  /** Resolves once that is so; looks after each message. */
  until(isSo: () => boolean): Promise<void> {
    if (isSo()) return Promise.resolve()
    return new Promise((resolve) => {
      const notice = () => {
        if (!isSo()) return
        this.#noticed.delete(notice)
        resolve()
      }
      this.#noticed.add(notice)
    })
  }

  close(): void {
    this.socket.terminate()
  }

  /** Closes once everything that was sent has reached the server. */
  async leave(): Promise<void> {
    const closed = new Promise((resolve) => this.socket.once('close', resolve))
    this.socket.close()
    await closed
  }

  protected unlessEnded<T>(promise: Promise<T>, otherwise: T): Promise<T> {
    return Promise.race([promise, this.ended.then(() => otherwise)])
  }

  private unlessClosed(promise: Promise<unknown>): Promise<unknown> {
    return Promise.race([promise, new Promise((resolve) => this.socket.once('close', resolve))])
  }

  protected settleFirst(outcome: Written): void {
    this.writes.shift()?.settle(outcome)
  }

  protected hearUpdate(_update: Uint8Array): void {}

  /** A message of the part that the dialects share. */
  protected hear(kind: Kind, bytes: Uint8Array): void {
    if (kind === 'syncStep2') this.#reads.shift()?.({ before: this.#beforeAnswer.splice(0), update: bytes })
    else if (kind === 'update') {
      if (this.#reads.length > 0) this.#beforeAnswer.push(bytes)
      this.hearUpdate(bytes)
    } else if (kind === 'awareness') {
      for (const { client, clock, json } of awarenessIn(bytes)) {
        this.#known.set(client, clock)
        this.#states.set(client, json)
      }
    }
  }
}
