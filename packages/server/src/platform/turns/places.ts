import { type InProgressLimits, laneOf, type Requester } from './in-progress.ts'

/**
 * Places of which a user, an API key and the server can take a number each. Further requesters wait: API keys take turns, and
 * so do the users of an API key.
 */
export class Places {
  readonly #limits: InProgressLimits
  readonly #byUser = new Map<string, number>()
  readonly #byKey = new Map<string, number>()
  #taken = 0
  /** Who waits, by API key and by lane. The one whose turn is next comes first. */
  readonly #waiting = new Map<string, Map<string, (() => void)[]>>()

  constructor(limits: InProgressLimits) {
    this.#limits = limits
  }

  /** Takes a place. Returns undefined if one is free, otherwise a promise that resolves when the requester has one. */
  enter(requester: Requester): Promise<void> | undefined {
    const lane = laneOf(requester)
    const { apiKey } = requester
    const lanes = this.#waiting.get(apiKey)
    if (!lanes?.has(lane) && this.#canEnter(apiKey, lane)) return this.#take(apiKey, lane)
    return new Promise((resolve) => {
      if (!lanes) this.#waiting.set(apiKey, new Map([[lane, [resolve]]]))
      else if (lanes.has(lane)) lanes.get(lane)?.push(resolve)
      else lanes.set(lane, [resolve])
    })
  }

  /** Gives a place back. */
  leave(requester: Requester): void {
    this.#taken--
    add(this.#byKey, requester.apiKey, -1)
    add(this.#byUser, laneOf(requester), -1)
    if (this.#waiting.size > 0) this.#startNext()
  }

  #canEnter(apiKey: string, lane: string): boolean {
    const { perUser, perKey, perServer } = this.#limits
    return (
      this.#taken < perServer &&
      (this.#byKey.get(apiKey) ?? 0) < perKey &&
      (this.#byUser.get(lane) ?? 0) < perUser
    )
  }

  #take(apiKey: string, lane: string): undefined {
    this.#taken++
    add(this.#byKey, apiKey, 1)
    add(this.#byUser, lane, 1)
  }

  /** Those that are at their own limit are passed over: they are few, because together they have all places. */
  #startNext(): void {
    for (const [apiKey, lanes] of this.#waiting) {
      for (const [lane, waiting] of lanes) {
        if (!this.#canEnter(apiKey, lane)) continue
        this.#take(apiKey, lane)
        waiting.shift()?.()
        moveToEnd(lanes, lane, waiting.length > 0 ? waiting : undefined)
        moveToEnd(this.#waiting, apiKey, lanes.size > 0 ? lanes : undefined)
        return
      }
    }
  }
}

/** Without a value, the entry is removed. */
function moveToEnd<Value>(map: Map<string, Value>, name: string, value: Value | undefined): void {
  map.delete(name)
  if (value !== undefined) map.set(name, value)
}

function add(counts: Map<string, number>, name: string, change: number): void {
  const count = (counts.get(name) ?? 0) + change
  if (count === 0) counts.delete(name)
  else counts.set(name, count)
}
