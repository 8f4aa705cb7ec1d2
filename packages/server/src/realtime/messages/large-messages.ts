import type { Log } from '../../platform/log/log.ts'
import type { Connection } from '../sockets/connection.ts'
import type { Reading } from './message.ts'
import type { LargeJson } from './large-json.ts'
import { whenItsTurn } from '../../platform/turns/step-taker.ts'

/** Large JSON messages of clients, read in threads. */
export class LargeMessages {
  readonly #parts: { largeJson: LargeJson; log: Log }
  readonly #underWay = new Set<Promise<void>>()

  constructor(parts: { largeJson: LargeJson; log: Log }) {
    this.#parts = parts
  }

  /** Calls back in a turn of the client; with undefined if the thread failed, which is no fault of the message. */
  read(client: Connection, bytes: Buffer, onRead: (reading: Reading | undefined) => void): void {
    const reading = this.#read(client, bytes, onRead)
      .catch((error: unknown) => this.#parts.log.error({ err: error }, 'a large message failed'))
      .finally(() => this.#underWay.delete(reading))
    this.#underWay.add(reading)
  }

  async #read(
    { turns, owner }: Connection,
    bytes: Buffer,
    onRead: (reading: Reading | undefined) => void,
  ): Promise<void> {
    const { largeJson, log } = this.#parts
    let reading: Reading | undefined
    try {
      reading = await largeJson.read(owner.apiKey, bytes)
    } catch (error) {
      log.error({ err: error }, 'a message could not be read')
    }
    await whenItsTurn(turns, owner, () => onRead(reading))
  }

  /** Resolves when all of them are read. */
  async idle(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.all(this.#underWay)
  }
}
