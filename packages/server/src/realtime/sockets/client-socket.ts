import { WebSocket } from 'ws'

/** The code with which `ws` closes a client that sent a message above `maxPayload`. */
const tooLargeCode = 1009
export const tooLargeReason = 'A message has at most 1 MiB and 64 KiB.'

/** The WebSocket of one client, as the server sees it. */
export class ClientSocket extends WebSocket {
  /** If set, closes a client that sent a too large message, instead of `close` with code 1009. */
  onTooLarge: (() => void) | undefined
  /** The first close code that the server sent. Undefined if it sent none. */
  sentCode: number | undefined

  override close(code?: number, reason?: string | Buffer): void {
    if (code === tooLargeCode && this.onTooLarge) return this.onTooLarge()
    this.sentCode ??= code
    super.close(code, code === tooLargeCode ? tooLargeReason : reason)
  }
}
