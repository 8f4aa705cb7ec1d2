import { ApiError } from '@plenum/protocol'
import type { Bus } from '../bus.ts'
import type { Clock } from '../platform/clock.ts'
import type { Database } from '../store/engine/db.ts'
import { type EventPosition, isBefore } from '../store/event-log.ts'
import { findNewestSettled } from '../store/events.ts'

/** Readers that wait on this server, of each API key. */
const maxWaiting = 100
/** Some events are recorded without a message on the bus, such as those of other servers that are not linked. */
const pollMs = 1_000
/** After a message, its event appears when the transactions that began before it have ended. */
const soonMs = [20, 100, 300]

interface Waiting {
  seen: EventPosition
  end: (isWorthReading: boolean) => void
}

interface OfKey {
  readers: Set<Waiting>
  /** When the next looks at the log are due, before the usual ones. */
  soon: number[]
  isLooking: boolean
  stopTimer: () => void
}

interface NewEventsDeps {
  bus: Bus
  clock: Clock
  /** The newest event that a reader can get. */
  findNewest: (apiKey: string) => Promise<EventPosition>
}

/** Lets readers of the event log wait for new events. All readers of an API key share one look at the log. */
export class NewEvents {
  readonly #deps: NewEventsDeps
  readonly #byKey = new Map<string, OfKey>()
  readonly #unsubscribe: () => void
  #isClosed = false

  constructor(deps: NewEventsDeps) {
    this.#deps = deps
    this.#unsubscribe = deps.bus.subscribe((message) => {
      const ofKey = this.#byKey.get(message.apiKey)
      if (ofKey && (message.kind === 'threads' || message.kind === 'editor'))
        this.#lookSoon(message.apiKey, ofKey)
    })
  }

  /**
   * Resolves with true when there are events after `seen`. Resolves with false after `ms`, when nobody waits for the answer any
   * more, or when the server stops.
   */
  wait(
    apiKey: string,
    seen: EventPosition,
    ms: number,
    abandoned: AbortSignal | undefined,
  ): Promise<boolean> {
    const ofKey = this.#byKey.get(apiKey) ?? this.#begin(apiKey)
    if (ofKey.readers.size >= maxWaiting) {
      throw new ApiError('RESOURCE_EXHAUSTED', `At most ${maxWaiting} readers of an API key wait for events.`)
    }
    return new Promise((resolve) => {
      const end = (isWorthReading: boolean) => {
        stopTimer()
        abandoned?.removeEventListener('abort', giveUp)
        ofKey.readers.delete(waiting)
        if (ofKey.readers.size === 0) this.#end(apiKey, ofKey)
        resolve(isWorthReading)
      }
      const giveUp = () => end(false)
      const waiting = { seen, end }
      ofKey.readers.add(waiting)
      const stopTimer = this.#deps.clock.setTimeout(giveUp, ms)
      abandoned?.addEventListener('abort', giveUp)
      if (this.#isClosed || abandoned?.aborted) giveUp()
    })
  }

  /** Ends all waiting, because the server stops. */
  close(): void {
    this.#isClosed = true
    this.#unsubscribe()
    for (const { readers } of this.#byKey.values()) for (const { end } of readers) end(false)
  }

  #begin(apiKey: string): OfKey {
    const ofKey: OfKey = { readers: new Set(), soon: [], isLooking: false, stopTimer: () => {} }
    this.#byKey.set(apiKey, ofKey)
    this.#plan(apiKey, ofKey)
    return ofKey
  }

  #end(apiKey: string, ofKey: OfKey): void {
    ofKey.stopTimer()
    this.#byKey.delete(apiKey)
  }

  #lookSoon(apiKey: string, ofKey: OfKey): void {
    ofKey.soon = [...soonMs]
    ofKey.stopTimer()
    if (!ofKey.isLooking) this.#plan(apiKey, ofKey)
  }

  #plan(apiKey: string, ofKey: OfKey): void {
    const delayMs = ofKey.soon.shift() ?? pollMs
    ofKey.stopTimer = this.#deps.clock.setTimeout(() => void this.#look(apiKey, ofKey), delayMs)
  }

  async #look(apiKey: string, ofKey: OfKey): Promise<void> {
    ofKey.isLooking = true
    try {
      const newest = await this.#deps.findNewest(apiKey)
      for (const { seen, end } of ofKey.readers) if (isBefore(seen, newest)) end(true)
    } catch {
      // The readers get the error when they read.
      for (const { end } of ofKey.readers) end(true)
    }
    ofKey.isLooking = false
    if (ofKey.readers.size > 0) this.#plan(apiKey, ofKey)
  }
}

export const createNewEvents = ({
  database,
  ...deps
}: Omit<NewEventsDeps, 'findNewest'> & { database: Pick<Database, 'read'> }): NewEvents =>
  new NewEvents({ ...deps, findNewest: (apiKey) => findNewestSettled(database.read, apiKey) })
