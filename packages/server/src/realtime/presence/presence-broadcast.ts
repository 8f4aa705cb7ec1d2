import { type BroadcastPart, PacedBroadcast } from '../../platform/turns/paced-broadcast.ts'
import { PresenceFields } from './presence-fields.ts'
import type { PresentPerson } from './present-person.ts'
import { RefFrames } from '../sockets/ref-frames.ts'

/** Who is told of changes. */
export interface PresenceSubscriber {
  /** False if the client is behind, and nothing was sent. */
  presenceChanged(frames: RefFrames, userIds: readonly string[]): boolean
}

/** People who are looked at for one message. */
const maxPeoplePerPart = 200

export interface PresenceBroadcastParts {
  /** Epoch milliseconds. */
  now: () => number
  /** Does one step after the other, in turns with other work. */
  run: (steps: Iterator<unknown>) => void
  /** The person was looked at. */
  looked: (person: PresentPerson) => void
}

/**
 * Tells the subscribers of a document who has changed. Those who may write come first, so that viewers cannot delay them,
 * and nobody is told of more often than its pace allows.
 */
export class PresenceBroadcast {
  readonly #parts: PresenceBroadcastParts
  /** With the number of the newest change that each knew when it came. */
  readonly #subscribers = new Map<PresenceSubscriber, number>()
  #changes = 0
  readonly #writers = new Set<PresentPerson>()
  readonly #others = new Set<PresentPerson>()
  readonly #broadcast: PacedBroadcast<PresenceSubscriber>

  constructor(parts: PresenceBroadcastParts) {
    this.#parts = parts
    this.#broadcast = new PacedBroadcast({
      recipients: this.#subscribers,
      waiting: () => this.#writers.size + this.#others.size,
      takePart: () => this.#takePart(),
      run: parts.run,
    })
  }

  /** The subscriber knows how everybody is shown at this moment. */
  subscribe(subscriber: PresenceSubscriber): void {
    this.#subscribers.set(subscriber, this.#changes)
  }

  unsubscribe(subscriber: PresenceSubscriber): void {
    this.#subscribers.delete(subscriber)
  }

  /** The person may be shown differently now. */
  changed(person: PresentPerson): void {
    const [mine, other] = person.isWriter ? [this.#writers, this.#others] : [this.#others, this.#writers]
    mine.add(person)
    other.delete(person)
    this.#broadcast.start()
  }

  /** Those who have changed since they were told of, in the order in which they will be. */
  *waiting(): Generator<PresentPerson> {
    yield* this.#writers
    yield* this.#others
  }

  /** Brings up to date how the person is shown, for somebody who is about to see it. */
  update(person: PresentPerson): void {
    if (!person.update(this.#parts.now())) return
    person.change = ++this.#changes
    // The others must be told, even if it is as before when their turn comes.
    person.mustTell = true
  }

  #takePart(): BroadcastPart<PresenceSubscriber> {
    const startedAt = performance.now()
    const fields = new PresenceFields()
    const userIds: string[] = []
    let changes = 0
    let newest = 0
    let leastWaitMs = Infinity
    for (const person of this.waiting()) {
      const waitMs = person.isNobody ? 0 : person.pace.waitMs(startedAt)
      leastWaitMs = Math.min(leastWaitMs, waitMs)
      if (waitMs > 0) continue
      this.#writers.delete(person)
      this.#others.delete(person)
      this.update(person)
      this.#parts.looked(person)
      if (person.mustTell) {
        person.mustTell = false
        userIds.push(person.userId)
        newest = Math.max(newest, person.change)
        person.pace.spend(fields.add(person.userId, person), startedAt)
      }
      if (++changes === maxPeoplePerPart || fields.isFull) break
    }
    const send = userIds.length > 0 ? this.#sendTo(fields, userIds, newest) : undefined
    return { changes, bytes: fields.bytes, send, waitMs: leastWaitMs }
  }

  #sendTo(fields: PresenceFields, userIds: readonly string[], newest: number) {
    const frames = new RefFrames('presence', fields.toString())
    return (subscriber: PresenceSubscriber) => {
      const known = this.#subscribers.get(subscriber) ?? Infinity
      return known < newest && subscriber.presenceChanged(frames, userIds)
    }
  }
}
