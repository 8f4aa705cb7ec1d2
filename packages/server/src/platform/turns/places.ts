import { laneOf, type Requester, ShareCounts, type Shares } from './in-progress.ts'

interface Waiting {
  requester: Requester
  start: () => void
}

/**
 * Places of which a user, an API key and the server can take a number each. Further requesters wait: API keys take turns, and
 * so do the users of an API key. Who has none gets one although the others have taken all.
 */
export class Places {
  readonly #counts: ShareCounts
  /** Who waits, by API key and by lane. The one whose turn is next comes first. */
  readonly #waiting = new Map<string, Map<string, Waiting[]>>()

  constructor(limits: Shares) {
    this.#counts = new ShareCounts(limits, { perUser: 1, perKey: 1 })
  }

  /** Takes a place. Returns undefined if one is free, otherwise a promise that resolves when the requester has one. */
  enter(requester: Requester): Promise<void> | undefined {
    const lane = laneOf(requester)
    const { apiKey } = requester
    const lanes = this.#waiting.get(apiKey)
    if (!lanes?.has(lane) && this.#counts.hasRoom(requester, lane)) {
      this.#counts.add(requester, lane, 1)
      return undefined
    }
    return new Promise((start) => {
      const waiting = { requester, start }
      if (!lanes) this.#waiting.set(apiKey, new Map([[lane, [waiting]]]))
      else if (lanes.has(lane)) lanes.get(lane)?.push(waiting)
      else lanes.set(lane, [waiting])
    })
  }

  /** Gives a place back. */
  leave(requester: Requester): void {
    this.#counts.add(requester, laneOf(requester), -1)
    if (this.#waiting.size > 0) this.#startNext()
  }

  /** Those that are at their own limit are passed over: they are few, because together they have all places. */
  #startNext(): void {
    for (const [apiKey, lanes] of this.#waiting) {
      for (const [lane, waiting] of lanes) {
        const [first] = waiting
        if (!first || !this.#counts.hasRoom(first.requester, lane)) continue
        this.#counts.add(first.requester, lane, 1)
        waiting.shift()
        first.start()
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
