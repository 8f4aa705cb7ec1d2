/**
 * Passes messages between the servers that share a database. A message may be lost. One that arrives arrives once and
 * unchanged, and those of one server arrive in their order. So a link makes servers learn of changes sooner, and nothing else
 * may depend on it.
 */
export interface ServerLink {
  /** What the log calls the link. */
  readonly name: string
  /** Whether messages may be large. If not, send what has changed, and let the receivers read the data. */
  readonly carriesData: boolean
  readonly isConnected: boolean
  /** How long a message took at the last measurement. Undefined: none has ended since the link was last connected. */
  readonly delayMs: number | undefined
  /** How many messages were not sent since the start. */
  readonly droppedMessages: number
  /** Connects, and connects again whenever the connection is lost. The id has 8 characters of one byte each. */
  start(ownId: string, listener: ServerLinkListener): void
  /**
   * Sends the message to the servers with these ids. Default: to all others. It is dropped while the link is
   * not connected or too many messages wait.
   */
  send(message: Uint8Array, to?: readonly string[]): void
  /** Resolves when the messages that were sent are on their way, or could not be sent, and the connection is closed. */
  stop(): Promise<void>
}

export interface ServerLinkListener {
  /** The server with this id has sent the message. */
  onMessage(message: Uint8Array, from: string): void
  /** The link is connected, for the first time or again. Messages may have been missed before. */
  onConnected(): void
  /** The connection is lost. The reason contains no secret. */
  onDisconnected(reason: string): void
  /** The first attempt to connect since the start has failed. The reason contains no secret. */
  onUnreachable(reason: string): void
}
