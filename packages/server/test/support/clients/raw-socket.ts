import { onTestFinished } from 'vitest'
import { type ClientOptions, WebSocket } from 'ws'
import type { TestServer } from '../harness.ts'

/** The close code and reason that a client received. */
export interface SocketClose {
  code: number
  reason: string
}

export const socketUrl = (server: Pick<TestServer, 'url'>, path: string) =>
  server.url.replace(/^http/, 'ws') + path

/** Resolves when the socket closes. */
export const closed = (socket: WebSocket): Promise<SocketClose> =>
  new Promise((resolve) =>
    socket.once('close', (code, reason) => resolve({ code, reason: reason.toString() })),
  )

/**
 * A WebSocket of a test, terminated after the test. It listens from the start: the first message can arrive together with
 * the answer to the handshake, before a test that waits for `open` continues.
 */
export abstract class TestSocket {
  readonly socket: WebSocket
  readonly closed: Promise<SocketClose>
  readonly #opened: Promise<void>

  constructor(url: string, options: ClientOptions = {}) {
    this.socket = new WebSocket(url, options)
    this.closed = closed(this.socket)
    this.#opened = new Promise((resolve) => this.socket.once('open', () => resolve()))
    // `closed` reports a failed connection, too.
    this.socket.on('error', () => {})
    this.socket.on('message', (data: Buffer, isBinary) => this.receive(data, isBinary))
    // `afterEach` would apply only to the first of the files that share this module.
    onTestFinished(() => this.socket.terminate())
  }

  protected abstract receive(data: Buffer, isBinary: boolean): void

  /** Resolves when the handshake is complete. Throws if the connection is closed instead. */
  async connected(): Promise<void> {
    const close = await Promise.race([this.#opened, this.closed])
    if (close) throw new Error(`The connection was closed: ${close.code} ${close.reason}`)
  }

  /** Waits until the server has received all sent messages, or until the connection is closed. */
  async flushed(): Promise<void> {
    if (this.socket.readyState !== WebSocket.OPEN) return
    const pong = new Promise((resolve) => this.socket.once('pong', resolve))
    this.socket.ping()
    await Promise.race([pong, this.closed])
  }

  /** Closes the connection with a closing handshake, after all sent messages have reached the server. */
  async close(): Promise<void> {
    this.socket.close()
    await this.closed
  }

  /** Ends the connection without a closing handshake. */
  terminate(): void {
    this.socket.terminate()
  }
}

/** A WebSocket at any path that sends any bytes and records the messages of the server. */
export class RawSocket extends TestSocket {
  readonly received: Buffer[] = []
  #waiting: (() => void)[] = []

  constructor(server: Pick<TestServer, 'url'>, path: string, options?: ClientOptions) {
    super(socketUrl(server, path), options)
  }

  /** Opens a socket, and resolves when the handshake is complete. */
  static async connect(
    server: Pick<TestServer, 'url'>,
    path: string,
    options?: ClientOptions,
  ): Promise<RawSocket> {
    const socket = new RawSocket(server, path, options)
    await socket.connected()
    return socket
  }

  protected receive(data: Buffer): void {
    this.received.push(data)
    for (const wake of this.#waiting.splice(0)) wake()
  }

  send(data: Uint8Array | string): void {
    this.socket.send(data)
  }

  /** Waits until the server has sent that number of messages. Throws if it closes the connection before. */
  async receivedCount(count: number): Promise<void> {
    while (this.received.length < count) {
      const message = new Promise<void>((resolve) => this.#waiting.push(resolve))
      const close = await Promise.race([message, this.closed])
      if (close) throw new Error(`The connection was closed: ${close.code} ${close.reason}`)
    }
  }
}
