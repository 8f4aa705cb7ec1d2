import { WebSocket } from 'ws'
import * as Y from 'yjs'
import { awarenessIn, awarenessOf, textOf } from '../words.ts'

export type Role = 'viewer' | 'editor'

export interface Door {
  organizationId: string
  documentId: string
  editorId: string
  token?: string
  /** Headers of the handshake: the credentials of a backend, an origin. */
  headers?: Record<string, string>
}

/** Why a client was refused. Hocuspocus has no codes while the socket stays open. */
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
/** Terminates the clients that a test has left open. */
export function endRawClients(): void {
  for (const client of open) client.socket.terminate()
  open.clear()
}

/**
 * One client in one editor that sends any message at any time: calls before the socket is open are sent together once it
 * opens. Every promise resolves with the answer of the server, or with the end of the session.
 */
export abstract class RawClient {
  readonly socket: WebSocket
  /** Resolves when the client is refused or closed. */
  readonly ended: Promise<Refusal>
  /** Set when `ended` resolves. */
  refusal: Refusal | undefined
  /** All roles that the server sent; the protocol of y-websocket has none. */
  readonly roles: Role[] = []
  /** The messages of all refusals. */
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
  /** Updates that arrived while an answer was awaited. */
  #beforeAnswer: Uint8Array[] = []
  readonly #checks = new Set<() => void>()
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
      for (const check of this.#checks) check()
    })
    this.socket.on('close', (code, reason) => {
      this.end({ code, reason: reason.toString() })
      for (const check of this.#checks) check()
      open.delete(this)
    })
  }

  /** The first messages, which identify the client where the address does not. */
  protected abstract greetingFor(door: Door): (Uint8Array | string)[]
  protected abstract frame(kind: Kind, bytes: Uint8Array, number: number): Uint8Array
  protected abstract receive(data: Buffer, isBinary: boolean): void

  /** A message in the form in which `update` and the other methods send it. */
  messageOf(kind: Kind, bytes: Uint8Array, number: number): Uint8Array {
    return this.frame(kind, bytes, number)
  }

  protected send(message: Uint8Array | string): void {
    if (this.socket.readyState === WebSocket.OPEN) this.socket.send(message)
    else this.#unsent.push(message)
  }

  /** Resolves with the role if the dialect sends one, or with the refusal. */
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

  /** The text of the editor in the answer; undefined if the client may not read it. */
  async read(): Promise<string | undefined> {
    const answer = await this.#requestContent()
    return answer && textOf(answer.update)
  }

  /** Like `read`, with the updates before the answer, which contain the newest rows of a large document. */
  async readWithUpdates(): Promise<string | undefined> {
    const answer = await this.#requestContent()
    return answer && textOf(...answer.before, answer.update)
  }

  #requestContent(): Promise<Answer | undefined> {
    const answer = new Promise<Answer>((resolve) => this.#reads.push(resolve))
    this.send(this.frame('syncStep1', Uint8Array.of(0), 0))
    return this.unlessEnded<Answer | undefined>(answer, undefined)
  }

  /** Sends an awareness state for any Yjs client, its own or another's, and does not wait. */
  sendAwareness(client: number, clock: number, state: object | null): void {
    this.send(this.frame('awareness', awarenessOf(client, clock, state), 0))
  }

  /** The awareness state of a Yjs client as the server sent it; undefined if there is none. */
  stateOf(client: number): unknown {
    return JSON.parse(this.#states.get(client) ?? 'null') ?? undefined
  }

  /** `told`: the state was broadcast to all clients of the editor, including this one. */
  awareness(state: object): Promise<Told> {
    const clock = ++this.#clock
    this.sendAwareness(this.#clientId, clock, state)
    return this.unlessEnded(
      this.until(() => (this.#known.get(this.#clientId) ?? 0) >= clock).then(() => 'told' as const),
      'refused',
    )
  }

  /** The answer to opening another editor on the same connection, if the connection is still open. */
  async tryAnother(door: Door): Promise<string | undefined> {
    const greeting = this.greetingFor(door)
    if (greeting.length === 0 || this.socket.readyState !== WebSocket.OPEN) return undefined
    const answer = new Promise<Buffer>((resolve) => this.socket.once('message', resolve))
    for (const message of greeting) this.socket.send(message)
    return (await answer).toString()
  }

  /** Waits until all sent messages have reached the server. */
  async arrived(): Promise<void> {
    if (this.socket.readyState !== WebSocket.OPEN) return
    const pong = new Promise((resolve) => this.socket.once('pong', resolve))
    this.socket.ping()
    await this.unlessClosed(pong)
  }

  /** Resolves when the condition is true; checks it after each message. */
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

  close(): void {
    this.socket.terminate()
  }

  /** Closes after all sent messages have reached the server. */
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

  protected onUpdate(_update: Uint8Array): void {}

  /** Handles a message of the protocol that all dialects share. */
  protected onMessage(kind: Kind, bytes: Uint8Array): void {
    if (kind === 'syncStep2') this.#reads.shift()?.({ before: this.#beforeAnswer.splice(0), update: bytes })
    else if (kind === 'update') {
      if (this.#reads.length > 0) this.#beforeAnswer.push(bytes)
      this.onUpdate(bytes)
    } else if (kind === 'awareness') {
      for (const { client, clock, json } of awarenessIn(bytes)) {
        this.#known.set(client, clock)
        this.#states.set(client, json)
      }
    }
  }
}
