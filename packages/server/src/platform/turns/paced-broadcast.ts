import { type Clock, type StopTimer, systemClock } from '../clock.ts'
import { BytePace } from './byte-pace.ts'

/** Changes that happen within this time are sent together. */
const collectMs = 15
/** To all recipients together. A hundred clients that see each other's cursors move ten times a second need 30 MB. */
const maxBytesPerSecond = 32 * 1024 * 1024
/** The cost of sending a message besides its bytes, expressed in bytes. */
const messageOverheadBytes = 512

/** One message of a broadcast, and what it covers. */
export interface BroadcastPart<Recipient> {
  /** How many changes the message covers. */
  changes: number
  bytes: number
  /**
   * Sends the message. Returns false if it was not sent, because the recipient is behind or up to date. Undefined: there is
   * no message.
   */
  send: ((recipient: Recipient) => boolean) | undefined
  /** How long until a change that this message leaves out may be sent. */
  waitMs: number
}

export interface BroadcastSource<Recipient> {
  readonly recipients: { keys(): Iterable<Recipient>; has(recipient: Recipient): boolean }
  /** How many changes wait to be sent. */
  countWaiting(): number
  /** Builds the next message, of bounded size and in a few milliseconds. */
  takePart(): BroadcastPart<Recipient>
  /** Runs the steps one after the other, in turns with other work. */
  run(steps: Iterator<unknown>): void
  clock?: Clock
}

/**
 * Sends changes to all recipients soon after they happen, at a limited rate. One step sends to one recipient, so that no
 * broadcast holds the event loop. Changes that arrive meanwhile are sent next, in their latest state.
 */
export class PacedBroadcast<Recipient> {
  readonly #source: BroadcastSource<Recipient>
  readonly #clock: Clock
  readonly #pace = new BytePace(maxBytesPerSecond)
  #stopTimer: StopTimer | undefined
  /** When the timer fires. Infinity: there is no timer. */
  #startsAt = Infinity
  #isRunning = false

  constructor(source: BroadcastSource<Recipient>) {
    this.#source = source
    this.#clock = source.clock ?? systemClock
  }

  /** Call it when something has changed. */
  start(inMs = collectMs): void {
    const startsAt = this.#clock.elapsed() + inMs
    if (this.#isRunning || startsAt >= this.#startsAt) return
    this.#stopTimer?.()
    this.#startsAt = startsAt
    this.#stopTimer = this.#clock.setTimeout(() => {
      this.#startsAt = Infinity
      this.#isRunning = true
      this.#source.run(this.#steps())
    }, inMs)
  }

  *#steps(): Generator<undefined> {
    let waitMs = this.#pace.waitMs(this.#clock.elapsed())
    try {
      // Changes that arrive meanwhile wait for the next run, unless a message has room for them.
      for (let left = this.#source.countWaiting(); left > 0 && waitMs === 0;) {
        const part = this.#source.takePart()
        yield
        yield* this.#send(part)
        left -= part.changes
        waitMs = part.changes > 0 ? this.#pace.waitMs(this.#clock.elapsed()) : part.waitMs
      }
    } finally {
      this.#isRunning = false
      // `waitMs` is Infinity if nothing was waiting when the part was built.
      if (this.#source.countWaiting() > 0)
        this.start(waitMs === Infinity ? collectMs : Math.max(waitMs, collectMs))
    }
  }

  *#send({ send, bytes }: BroadcastPart<Recipient>): Generator<undefined> {
    if (!send) return
    const { recipients } = this.#source
    // Recipients that join during the broadcast are left out: they may already have a later state.
    for (const recipient of Array.from(recipients.keys())) {
      if (!recipients.has(recipient)) continue
      if (send(recipient)) this.#pace.spend(bytes + messageOverheadBytes, this.#clock.elapsed())
      yield
    }
  }
}
