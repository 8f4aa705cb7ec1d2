import { ApiError } from '@plenum/protocol'
import type { Bus } from '../bus.ts'
import type { Clock } from '../platform/clock.ts'
import type { Database } from '../store/engine/db.ts'
import { type EventPosition, isBefore } from '../store/event-log.ts'
import { findNewestSettled } from '../store/events.ts'

/** Readers that wait on this server. */
const maxWaiting = { perKey: 100, perServer: 2_000 }
/** A reader for whom there was nothing among the new events waits at least this long for the next ones. */
const restMs = 500
/** Some events are recorded without a message on the bus, such as those of other servers that are not linked. */
const pollMs = 1_000
/** After a message, its event appears when the transactions that began before it have ended. */
const soonMs = [20, 100, 300]

/** Why a reader waits no longer: there are new events, its time is over, or it must get no more events. */
type Outcome = 'new' | 'late' | 'ended'

interface Waiting {
  seen: EventPosition
  /** When it may be told of new events, by the clock. */
  from: number
  end: (outcome: Outcome) => void
}

interface OfKey {
  readers: Set<Waiting>
  /** When the next looks at the log are due, before the usual ones. */
  soon: number[]
  isLooking: boolean
  /** When the next look is due, by the clock. */
  dueAt: number
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
  #count = 0
  #isClosed = false

  constructor(deps: NewEventsDeps) {
    this.#deps = deps
    this.#unsubscribe = deps.bus.subscribe((message) => {
      const ofKey = this.#byKey.get(message.apiKey)
      if (!ofKey) return
      if (message.kind === 'threads' || message.kind === 'editor') this.#lookSoon(message.apiKey, ofKey)
      // Whoever has the old credentials learns nothing more.
      if (message.kind === 'credentials') endAll(ofKey, 'ended')
    })
  }

  /**
   * Waits for events after `seen`, for `ms` at most. `hasRead`: the reader was told of new events before, and wanted none of
   * them. `ended`: nobody waits for the answer any more, the credentials were reset, or the server stops.
   */
  wait(
    apiKey: string,
    seen: EventPosition,
    { ms, hasRead, abandoned }: { ms: number; hasRead: boolean; abandoned: AbortSignal | undefined },
  ): Promise<Outcome> {
    const fault = this.#faultOfOneMore(apiKey)
    if (fault) throw new ApiError('RESOURCE_EXHAUSTED', fault, { retryAfterSeconds: 1 })
    const ofKey = this.#byKey.get(apiKey) ?? this.#begin(apiKey)
    return new Promise((resolve) => {
      const { clock } = this.#deps
      const end = (outcome: Outcome) => {
        stopTimer()
        abandoned?.removeEventListener('abort', onAbandoned)
        this.#count--
        ofKey.readers.delete(waiting)
        if (ofKey.readers.size === 0) this.#end(apiKey, ofKey)
        resolve(outcome)
      }
      const onAbandoned = () => end('ended')
      const waiting = { seen, from: hasRead ? clock.elapsed() + restMs : 0, end }
      this.#count++
      ofKey.readers.add(waiting)
      const stopTimer = clock.setTimeout(() => end('late'), ms)
      abandoned?.addEventListener('abort', onAbandoned)
      if (this.#isClosed || abandoned?.aborted) end('ended')
    })
  }

  /** Ends all waiting, because the server stops. Call it before the sockets are drained: their calls may wait here. */
  close(): void {
    this.#isClosed = true
    this.#unsubscribe()
    for (const ofKey of this.#byKey.values()) endAll(ofKey, 'ended')
  }

  #faultOfOneMore(apiKey: string): string | undefined {
    if ((this.#byKey.get(apiKey)?.readers.size ?? 0) >= maxWaiting.perKey)
      return `At most ${maxWaiting.perKey} readers of an API key wait for events.`
    return this.#count >= maxWaiting.perServer ? 'Too many readers wait for events.' : undefined
  }

  #begin(apiKey: string): OfKey {
    const ofKey: OfKey = { readers: new Set(), soon: [], isLooking: false, dueAt: 0, stopTimer: () => {} }
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
    // A look is never put off, however quickly the messages follow each other.
    const isSoon = ofKey.dueAt <= this.#deps.clock.elapsed() + (soonMs[0] ?? 0)
    if (ofKey.isLooking || isSoon) return
    ofKey.stopTimer()
    this.#plan(apiKey, ofKey)
  }

  #plan(apiKey: string, ofKey: OfKey): void {
    const { clock } = this.#deps
    const delayMs = ofKey.soon.shift() ?? pollMs
    ofKey.dueAt = clock.elapsed() + delayMs
    ofKey.stopTimer = clock.setTimeout(() => void this.#look(apiKey, ofKey), delayMs)
  }

  async #look(apiKey: string, ofKey: OfKey): Promise<void> {
    ofKey.isLooking = true
    try {
      const newest = await this.#deps.findNewest(apiKey)
      const now = this.#deps.clock.elapsed()
      for (const { seen, from, end } of ofKey.readers) if (from <= now && isBefore(seen, newest)) end('new')
    } catch {
      // The readers get the error when they read.
      endAll(ofKey, 'new')
    }
    ofKey.isLooking = false
    if (ofKey.readers.size > 0) this.#plan(apiKey, ofKey)
  }
}

function endAll({ readers }: OfKey, outcome: Outcome): void {
  for (const { end } of readers) end(outcome)
}

export const createNewEvents = ({
  database,
  ...deps
}: Omit<NewEventsDeps, 'findNewest'> & { database: Pick<Database, 'read'> }): NewEvents =>
  new NewEvents({ ...deps, findNewest: (apiKey) => findNewestSettled(database.read, apiKey) })
