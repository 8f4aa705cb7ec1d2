import { WebSocket } from 'ws'

/** The code with which `ws` closes a client that sent a message above `maxPayload`. */
const tooLargeCode = 1009
export const tooLargeReason = 'A message has at most 1 MiB and 64 KiB.'

export class ClientSocket extends WebSocket {
  /** Closes a client that sent a too large message, if not with code 1009. */
  onTooLarge: (() => void) | undefined
  /** The close code that the server sent, if it sent one. */
  sentCode: number | undefined

  override close(code?: number, reason?: string | Buffer): void {
    if (code === tooLargeCode && this.onTooLarge) return this.onTooLarge()
    this.sentCode ??= code
    super.close(code, code === tooLargeCode ? tooLargeReason : reason)
  }
}
