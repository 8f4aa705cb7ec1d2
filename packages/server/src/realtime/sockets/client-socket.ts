import { WebSocket } from 'ws'

/** What `ws` says of a message that is larger than any may be. */
const tooLargeCode = 1009
export const tooLargeReason = 'A message has at most 1 MiB and 64 KiB.'

export class ClientSocket extends WebSocket {
  /** Closes the client that sent such a message, if it is not to be closed with 1009. */
  onTooLarge: (() => void) | undefined
  /** The code with which the server began to close or answered a close, if any. */
  sentCode: number | undefined

  override close(code?: number, reason?: string | Buffer): void {
    if (code === tooLargeCode && this.onTooLarge) return this.onTooLarge()
    this.sentCode ??= code
    super.close(code, code === tooLargeCode ? tooLargeReason : reason)
  }
}
