import { createHmac, hkdfSync, randomBytes } from 'node:crypto'
import { OpaqueTexts } from '../../platform/opaque-texts.ts'
import type { Database } from '../../store/engine/db.ts'
import { type EventPosition, isBefore } from '../../store/event-log.ts'
import * as eventNames from '../../store/event-names.ts'
import { sealContexts } from './seal-contexts.ts'
import type { Secrets } from './secrets.ts'

/** A position that a caller sent. */
export interface SentPosition {
  position: EventPosition
  /** Whether the caller could have made it up: it has the form that positions had before they were encrypted. */
  isPlain: boolean
}

/** Random bytes in a position that a user gets. */
const saltBytes = 8

/**
 * How callers see the numbers of the event log. The database numbers the events and transactions of all tenants, so these
 * numbers would tell how much the others write: positions are encrypted, and ids are hashes (spec 27.1.7).
 *
 * The secret for both is in the database, so positions and ids stay valid when the database is restored or copied, and when
 * `SECRET_KEY` is replaced.
 */
export class EventNames {
  readonly #positions: OpaqueTexts
  readonly #idKey: Buffer
  /** The newest event and transaction when positions began to be encrypted. Undefined: there was none. */
  readonly #lastPlain: EventPosition | undefined

  private constructor(key: Buffer, lastPlain: EventPosition | undefined) {
    this.#positions = new OpaqueTexts(Buffer.from(hkdfSync('sha256', key, 'plenum', 'event positions', 32)))
    this.#idKey = Buffer.from(hkdfSync('sha256', key, 'plenum', 'event ids', 32))
    this.#lastPlain = lastPlain
  }

  /** The first call makes the secret. */
  static async load(
    { read, write }: Pick<Database, 'read' | 'write'>,
    secrets: Secrets,
  ): Promise<EventNames> {
    const stored = await eventNames.find(read)
    if (stored) {
      const { secret, lastPlain } = stored
      return new EventNames(secrets.unseal(secret, sealContexts.eventNames('current')), lastPlain)
    }
    const secret = secrets.seal(randomBytes(32), sealContexts.eventNames('current'))
    await write((db) => eventNames.addSecret(db, secret))
    return EventNames.load({ read, write }, secrets)
  }

  /**
   * The position as text. For users it has a salt: otherwise they could see, when nothing is new for them, that something else
   * was recorded.
   */
  writePosition(apiKey: string, position: EventPosition, { isSalted }: { isSalted: boolean }): string {
    const value = Buffer.alloc(16)
    value.writeBigUInt64BE(BigInt(position.transactionId), 0)
    value.writeBigUInt64BE(BigInt(position.eventId), 8)
    const salt = isSalted ? randomBytes(saltBytes) : Buffer.alloc(0)
    return this.#positions.seal(Buffer.concat([value, salt]), apiKey)
  }

  /** Returns undefined if the text is no position of the API key. */
  readPosition(apiKey: string, text: string): SentPosition | undefined {
    const [, transactionId, eventId] = /^(\d{1,16})\.(\d{1,16})$/.exec(text) ?? []
    if (transactionId !== undefined) {
      const position = { transactionId: Number(transactionId), eventId: Number(eventId) }
      return { position, isPlain: true }
    }
    const value = this.#positions.open(text, apiKey)
    if (!value) return undefined
    const number = (offset: number) => Number(value.readBigUInt64BE(offset))
    return { position: { transactionId: number(0), eventId: number(8) }, isPlain: false }
  }

  /** Whether the position can have been answered before positions were encrypted. */
  mayBePlain(position: EventPosition): boolean {
    return this.#lastPlain !== undefined && !isBefore(this.#lastPlain, position)
  }

  /** The id and the number with which callers see an event. Those of events from before are the stored ones. */
  nameOf(apiKey: string, eventId: number): { id: string; number: number } {
    if (this.#lastPlain && eventId <= this.#lastPlain.eventId)
      return { id: `evt_${eventId}`, number: eventId }
    const hash = createHmac('sha256', this.#idKey).update(`${eventId} ${apiKey}`).digest('hex')
    return { id: `evt_${hash.slice(0, 24)}`, number: Number.parseInt(hash.slice(24, 37), 16) }
  }
}
