import { once } from 'node:events'
import WebSocket from 'ws'
import * as Y from 'yjs'
import type { Dialect } from './dialects.ts'

export interface Target {
  server: string
  token: string
  room: string
  dialect: Dialect
  /** False: the server has no documents, so the client does not wait for a state. */
  answersSync: boolean
}

const emptyState = Y.encodeStateAsUpdate(new Y.Doc())
const emptyStateVector = Y.encodeStateVector(new Y.Doc())

/** One socket in one document. It only collects received updates: applying them would use more CPU than the server does. */
export class Client {
  readonly received: Uint8Array[] = []
  lastReceivedAt = 0
  savedCount = 0
  onUpdate?: (bytes: Uint8Array, at: number) => void
  onSaved?: (at: number) => void

  readonly #socket: WebSocket
  readonly #target: Target
  readonly #synced: Promise<void>
  #onOpened!: () => void
  #onRefused!: (error: Error) => void
  #state: 'opening' | 'open' | 'closing' = 'opening'

  private constructor(target: Target) {
    const { dialect, server, room, token } = target
    this.#target = target
    this.#synced = new Promise((resolve, reject) => {
      this.#onOpened = resolve
      this.#onRefused = reject
    })
    this.#socket = new WebSocket(dialect.address(server, room, token), { perMessageDeflate: false })
    this.#socket.on('message', (bytes: Buffer) => this.#receive(bytes))
    this.#socket.on('error', (error) => this.#fail(error))
    this.#socket.on('close', (code, reason) => {
      if (this.#state !== 'closing') this.#fail(new Error(`${room} was closed: ${code} ${reason.toString()}`))
    })
  }

  /** Opens a document. Resolves when the state of the document has arrived. */
  static async open(target: Target): Promise<Client> {
    const client = new Client(target)
    await Promise.race([once(client.#socket, 'open'), client.#synced])
    if (target.dialect.auth) client.send(target.dialect.auth(target.room, target.token))
    else if (target.answersSync) client.#requestState()
    else client.#onOpened()
    await client.#synced
    client.#state = 'open'
    return client
  }

  send(frame: Uint8Array): void {
    this.#socket.send(frame)
  }

  async close(): Promise<void> {
    this.#state = 'closing'
    this.#socket.close()
    if (this.#socket.readyState !== WebSocket.CLOSED) await once(this.#socket, 'close')
  }

  #requestState(): void {
    this.send(this.#target.dialect.stateVector(this.#target.room, emptyStateVector))
  }

  #receive(frame: Buffer): void {
    const message = this.#target.dialect.read(frame)
    switch (message.kind) {
      case 'update':
      case 'state': {
        this.received.push(message.bytes)
        this.lastReceivedAt = performance.now()
        this.onUpdate?.(message.bytes, this.lastReceivedAt)
        if (message.kind === 'state') this.#onOpened()
        return
      }
      case 'saved':
        this.savedCount++
        return this.onSaved?.(performance.now())
      case 'stateVector':
        return this.send(this.#target.dialect.state(this.#target.room, emptyState))
      case 'authenticated':
        return this.#requestState()
      case 'refused':
        return this.#fail(new Error(`${this.#target.room} was refused: ${message.reason}`))
      default:
    }
  }

  /** Rejects `open`. After `open` no caller waits for an error, so the error is thrown and ends the run. */
  #fail(error: Error): void {
    if (this.#state !== 'opening') throw error
    this.#state = 'closing'
    this.#onRefused(error)
  }
}
