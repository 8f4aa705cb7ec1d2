import { type Clock, systemClock } from '../../platform/clock.ts'

/** A frame that is not urgent waits this long for another frame to the same client, and up to `minPauseMs` more. */
export const maxDelayMs = 250
/** The timer fires at most this often, however many clients have a late frame. */
const minPauseMs = 25

/** The frames of one client that are not urgent. */
export interface LateSender {
  /** Sends them now. */
  flushLate(): void
}

/** Sends the frames that are not urgent and that no other frame took along in time. One timer serves all clients. */
export class LateFrames {
  readonly #clock: Clock
  /** The clients with late frames, and when these are sent at the latest. The earliest time is first. */
  readonly #waiting = new Map<LateSender, number>()
  #isTimerRunning = false

  constructor(clock: Clock = systemClock) {
    this.#clock = clock
  }

  add(sender: LateSender): void {
    this.#waiting.set(sender, this.#clock.elapsed() + maxDelayMs)
    if (!this.#isTimerRunning) this.#startTimer(maxDelayMs)
  }

  /** The frames of the client are sent or dropped. */
  delete(sender: LateSender): void {
    this.#waiting.delete(sender)
  }

  #startTimer(ms: number): void {
    this.#isTimerRunning = true
    this.#clock.setTimeout(this.#flushDue, ms)
  }

  readonly #flushDue = (): void => {
    this.#isTimerRunning = false
    const now = this.#clock.elapsed()
    for (const [sender, dueAt] of this.#waiting) {
      if (dueAt > now) return this.#startTimer(Math.max(dueAt - now, minPauseMs))
      this.#waiting.delete(sender)
      sender.flushLate()
    }
  }
}
