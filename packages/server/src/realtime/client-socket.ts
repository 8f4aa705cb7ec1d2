import { WebSocket } from 'ws'

/** What `ws` says of a message that is larger than any may be. */
const tooLarge = 1009

export class ClientSocket extends WebSocket {
  /** Said instead. */
  tooLargeCode = tooLarge

  override close(code?: number, reason?: string | Buffer): void {
    super.close(code === tooLarge ? this.tooLargeCode : code, reason)
  }
}
