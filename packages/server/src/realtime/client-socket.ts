import { WebSocket } from 'ws'

/** What `ws` says of a message that is larger than any may be. */
const tooLarge = 1009

export class ClientSocket extends WebSocket {
  /** Said instead. */
  tooLargeCode = tooLarge
  /** The code with which the server began to close or answered a close, if any. */
  sentCode: number | undefined

  override close(code?: number, reason?: string | Buffer): void {
    const sent = code === tooLarge ? this.tooLargeCode : code
    this.sentCode ??= sent
    super.close(sent, reason)
  }
}
