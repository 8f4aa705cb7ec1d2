import { LazyMap, LazySet } from '../../platform/lazy-collections.ts'
import { type BroadcastPart, PacedBroadcast } from '../../platform/turns/paced-broadcast.ts'
import { RefFrames } from '../sockets/ref-frames.ts'
import { PresenceFields } from './presence-fields.ts'
import type { PresentPerson } from './present-person.ts'

/** A client that receives changes of the presence list. */
export interface PresenceSubscriber {
  /** Sends the changed entries of these users. Returns false if the client is behind and nothing was sent. */
  onPresenceChanged(frames: RefFrames, userIds: readonly string[]): boolean
}

/** At most this many entries are computed for one message. */
const maxPeoplePerPart = 200

export interface PresenceBroadcastDeps {
  /** Epoch milliseconds. */
  now: () => number
  /** Runs the steps in turns with other work. */
  run: (steps: Iterator<unknown>) => void
  /** Called when a broadcast has computed the entry of the person again. */
  onUpdated: (person: PresentPerson) => void
}

/**
 * Broadcasts changed entries to the subscribers of a document. Users who may write come first, so that viewers cannot delay
 * them. Changes of one user are sent no faster than the user's pace allows.
 */
export class PresenceBroadcast {
  readonly #deps: PresenceBroadcastDeps
  /** Subscriber → `#changeSeq` when it subscribed. The subscriber knows all changes up to this number. */
  readonly #subscribers = new LazyMap<PresenceSubscriber, number>()
  /** The number of the newest change of an entry. */
  #changeSeq = 0
  /** People whose entries may have changed since the last broadcast: with write role, and without. */
  readonly #changedWriters = new LazySet<PresentPerson>()
  readonly #changedViewers = new LazySet<PresentPerson>()
  readonly #broadcast: PacedBroadcast<PresenceSubscriber>

  constructor(deps: PresenceBroadcastDeps) {
    this.#deps = deps
    this.#broadcast = new PacedBroadcast({
      recipients: this.#subscribers,
      countWaiting: () => this.#changedWriters.size + this.#changedViewers.size,
      takePart: () => this.#takePart(),
      run: deps.run,
    })
  }

  /** The subscriber must have the current list: it gets only later changes. */
  subscribe(subscriber: PresenceSubscriber): void {
    this.#subscribers.set(subscriber, this.#changeSeq)
  }

  unsubscribe(subscriber: PresenceSubscriber): void {
    this.#subscribers.delete(subscriber)
  }

  /** The entry of the person may have changed. */
  markChanged(person: PresentPerson): void {
    const [mine, other] = person.hasWriteRole
      ? [this.#changedWriters, this.#changedViewers]
      : [this.#changedViewers, this.#changedWriters]
    mine.add(person)
    other.delete(person)
    this.#broadcast.start()
  }

  /** The people whose changes are not broadcast yet, in the order of the broadcast. */
  *changed(): Generator<PresentPerson> {
    yield* this.#changedWriters
    yield* this.#changedViewers
  }

  /** Computes the entry of the person again, before it is sent. */
  update(person: PresentPerson): void {
    if (!person.update(this.#deps.now())) return
    person.changeSeq = ++this.#changeSeq
    // The other subscribers must get the entry, even if it has changed back by the time of the broadcast.
    person.mustBroadcast = true
  }

  #takePart(): BroadcastPart<PresenceSubscriber> {
    const startedAt = performance.now()
    const fields = new PresenceFields()
    const userIds: string[] = []
    let changes = 0
    let newestSeq = 0
    let minWaitMs = Infinity
    for (const person of this.changed()) {
      const waitMs = person.isGone ? 0 : person.pace.waitMs(startedAt)
      minWaitMs = Math.min(minWaitMs, waitMs)
      if (waitMs > 0) continue
      this.#changedWriters.delete(person)
      this.#changedViewers.delete(person)
      this.update(person)
      this.#deps.onUpdated(person)
      if (person.mustBroadcast) {
        person.mustBroadcast = false
        userIds.push(person.userId)
        newestSeq = Math.max(newestSeq, person.changeSeq)
        person.pace.spend(fields.add(person.userId, person), startedAt)
      }
      if (++changes === maxPeoplePerPart || fields.isFull) break
    }
    const send = userIds.length > 0 ? this.#createSend(fields, userIds, newestSeq) : undefined
    return { changes, bytes: fields.bytes, send, waitMs: minWaitMs }
  }

  #createSend(fields: PresenceFields, userIds: readonly string[], newestSeq: number) {
    const frames = new RefFrames('presence', fields.toString())
    return (subscriber: PresenceSubscriber) => {
      const knownSeq = this.#subscribers.get(subscriber) ?? Infinity
      return knownSeq < newestSeq && subscriber.onPresenceChanged(frames, userIds)
    }
  }
}
