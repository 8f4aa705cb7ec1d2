import type { Log } from '../../platform/log/log.ts'
import type { Connection } from '../sockets/connection.ts'
import type { ReadResult } from './message.ts'
import type { LargeJson } from './large-json.ts'

export interface LargeMessagesDeps {
  largeJson: LargeJson
  log: Log
}

/** Reads large JSON messages of clients in threads. */
export class LargeMessages {
  readonly #deps: LargeMessagesDeps
  /** The connections whose messages are being read. */
  readonly #inProgress = new Map<Promise<void>, Connection>()

  constructor(deps: LargeMessagesDeps) {
    this.#deps = deps
  }

  /** Calls `onRead` with the result, in a turn of the client. Undefined: the thread failed, without fault of the message. */
  read(client: Connection, bytes: Buffer, onRead: (result: ReadResult | undefined) => void): void {
    const reading = this.#read(client, bytes, onRead)
      .catch((error: unknown) => this.#deps.log.error({ err: error }, 'handling a large message failed'))
      .finally(() => this.#inProgress.delete(reading))
    this.#inProgress.set(reading, client)
  }

  async #read(
    { scheduler, owner }: Connection,
    bytes: Buffer,
    onRead: (result: ReadResult | undefined) => void,
  ): Promise<void> {
    const { largeJson, log } = this.#deps
    let result: ReadResult | undefined
    try {
      result = await largeJson.read(owner.apiKey, bytes)
    } catch (error) {
      log.error({ err: error }, 'reading a large message failed')
    }
    await scheduler.scheduleOnce(owner, () => onRead(result))
  }

  /**
   * Resolves when the large messages that the same user sent before on other connections are read and handled. Of a closed
   * connection, these are all messages: it reads them one after the other.
   */
  async whenEarlierRead(client: Connection): Promise<void> {
    const { apiKey, userId } = client.owner
    const isEarlier = (other: Connection) =>
      other !== client && other.owner.apiKey === apiKey && other.owner.userId === userId
    let reading = this.#readingOf(isEarlier)
    while (reading.length > 0) {
      await Promise.all(reading)
      reading = this.#readingOf((other) => isEarlier(other) && !other.isOpen)
    }
  }

  #readingOf(condition: (client: Connection) => boolean): Promise<void>[] {
    const reading: Promise<void>[] = []
    for (const [promise, client] of this.#inProgress) if (condition(client)) reading.push(promise)
    return reading
  }

  /** Resolves when no message is being read. */
  async idle(): Promise<void> {
    while (this.#inProgress.size > 0) await Promise.all(this.#inProgress.keys())
  }
}
