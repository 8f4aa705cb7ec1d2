import { WebSocket } from 'ws'

/** The code with which `ws` closes a client that sent a message above `maxPayload`. */
const tooLargeCode = 1009
export const tooLargeReason = 'A message has at most 1 MiB and 64 KiB.'

/** Learns what arrives from the client. */
export interface SocketListener {
  onMessage(data: Buffer, isBinary: boolean): void
  /** The client has sent a ping or a pong. */
  onPing(): void
  /** The client has sent a too large message. Returns whether the listener closes the socket itself. */
  onTooLarge(): boolean
  onSocketClosed(code: number): void
}

/** The WebSocket of one client, as the server sees it. Only `listener` learns of its events. */
export class ClientSocket extends WebSocket {
  listener: SocketListener | undefined
  /** The first close code that the server sent. Undefined if it sent none. */
  sentCode: number | undefined

  /**
   * Called by `ws`. Four functions and Node's table of listeners would take 500 bytes per connection. An error needs no
   * listener: the close code says what is wrong with the frame.
   */
  override emit(event: string, first?: unknown, second?: unknown): boolean {
    if (event === 'message') this.listener?.onMessage(first as Buffer, second as boolean)
    else if (event === 'ping' || event === 'pong') this.listener?.onPing()
    else if (event === 'close') this.listener?.onSocketClosed(first as number)
    return this.listener !== undefined
  }

  override close(code?: number, reason?: string | Buffer): void {
    if (code === tooLargeCode && this.listener?.onTooLarge()) return
    this.sentCode ??= code
    super.close(code, code === tooLargeCode ? tooLargeReason : reason)
  }
}
