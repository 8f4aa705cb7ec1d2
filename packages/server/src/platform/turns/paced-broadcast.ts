import { BytePace } from './byte-pace.ts'

/** Changes within this are sent together. */
const pauseMs = 15
/** To all recipients together. A hundred cursors that all see each other move ten times a second take 30 MB. */
const maxBytesPerSecond = 32 * 1024 * 1024
/** What it takes to send a message beside its bytes. */
const bytesAround = 512

/** One message. */
export interface BroadcastPart<Recipient> {
  /** How many changes were looked at for it. */
  changes: number
  bytes: number
  /** False: nothing was sent, because the recipient is behind or knows it. Undefined: there is no message. */
  send: ((recipient: Recipient) => boolean) | undefined
  /** How long it takes until a change that was left out may be sent. */
  waitMs: number
}

export interface BroadcastSource<Recipient> {
  readonly recipients: { keys(): Iterable<Recipient>; has(recipient: Recipient): boolean }
  /** How many changes wait to be sent. */
  waiting(): number
  /** The next message; of bounded size, and made in a few milliseconds. */
  takePart(): BroadcastPart<Recipient>
  /** Does one step after the other, in turns with other work. */
  run(steps: Iterator<unknown>): void
}

/**
 * Sends to everyone what has changed, soon after it did: one recipient a step, so that no broadcast holds the event loop,
 * and no faster than a document may send. What changes meanwhile is sent next, as it is then.
 */
export class PacedBroadcast<Recipient> {
  readonly #source: BroadcastSource<Recipient>
  readonly #pace = new BytePace(maxBytesPerSecond)
  #timer: NodeJS.Timeout | undefined
  /** When the timer ends. */
  #startsAt = Infinity
  #isRunning = false

  constructor(source: BroadcastSource<Recipient>) {
    this.#source = source
  }

  /** Something has changed. */
  start(inMs = pauseMs): void {
    const startsAt = performance.now() + inMs
    if (this.#isRunning || startsAt >= this.#startsAt) return
    clearTimeout(this.#timer)
    this.#startsAt = startsAt
    this.#timer = setTimeout(() => {
      this.#startsAt = Infinity
      this.#isRunning = true
      this.#source.run(this.#steps())
    }, inMs)
  }

  *#steps(): Generator<undefined> {
    let waitMs = this.#pace.waitMs(performance.now())
    try {
      // What changes meanwhile waits for the next time, unless there is room for it.
      for (let left = this.#source.waiting(); left > 0 && waitMs === 0;) {
        const part = this.#source.takePart()
        yield
        yield* this.#send(part)
        left -= part.changes
        waitMs = part.changes > 0 ? this.#pace.waitMs(performance.now()) : part.waitMs
      }
    } finally {
      this.#isRunning = false
      // Infinity: nothing waited when it was looked at.
      if (this.#source.waiting() > 0) this.start(waitMs === Infinity ? pauseMs : Math.max(waitMs, pauseMs))
    }
  }

  *#send({ send, bytes }: BroadcastPart<Recipient>): Generator<undefined> {
    if (!send) return
    const { recipients } = this.#source
    // Not to those who come meanwhile: they may know more than this.
    for (const recipient of Array.from(recipients.keys())) {
      if (!recipients.has(recipient)) continue
      if (send(recipient)) this.#pace.spend(bytes + bytesAround, performance.now())
      yield
    }
  }
}
