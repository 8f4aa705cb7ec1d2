import { ApiError } from '@plenum/protocol'

/** Who asked for some work. */
export interface Requester {
  apiKey: string
  /** Undefined: a backend with the credentials of the API key. */
  user?: { userId: string } | undefined
}

/** The requester of a call. `liveUser`: the user whose live client sent what the server calls with the rights of a backend. */
export const requesterOf = (caller: Requester, liveUser: { userId: string } | undefined): Requester =>
  liveUser ? { apiKey: caller.apiKey, user: liveUser } : caller

/** How many a user, an API key and the server may have. Backends have no limit of their own. */
export interface Shares {
  perUser: number
  perKey: number
  perServer: number
}

/** The work of a user, or of the backends of an API key, has this lane. */
export const laneOf = ({ apiKey, user }: Requester): string => (user ? `${apiKey}/${user.userId}` : apiKey)

/** What each requester and each API key gets, even if the others use up all of their API key and of the server. */
export interface Reserve {
  perUser: number
  perKey: number
}

/**
 * Counts for each user, each API key and the server. Those who have less than their reserve get more than the limit allows,
 * up to twice the limit, so that no user refuses another, and no API key another.
 */
export class ShareCounts {
  readonly #limits: Shares
  readonly #reserve: Reserve
  /** By lane, also of backends. */
  readonly #byUser = new Map<string, number>()
  readonly #byKey = new Map<string, number>()
  #count = 0

  constructor(limits: Shares, reserve: Reserve) {
    this.#limits = limits
    this.#reserve = reserve
  }

  /** Whether the requester may have one more. */
  hasRoom({ apiKey, user }: Requester, lane: string): boolean {
    const { perUser, perKey, perServer } = this.#limits
    const ofUser = this.#byUser.get(lane) ?? 0
    const ofKey = this.#byKey.get(apiKey) ?? 0
    if (user && ofUser >= perUser) return false
    if (ofKey >= (ofUser < this.#reserve.perUser ? 2 * perKey : perKey)) return false
    return this.#count < (ofKey < this.#reserve.perKey ? 2 * perServer : perServer)
  }

  add({ apiKey }: Requester, lane: string, change: 1 | -1): void {
    this.#count += change
    addTo(this.#byKey, apiKey, change)
    addTo(this.#byUser, lane, change)
  }
}

function addTo(counts: Map<string, number>, name: string, change: number): void {
  const count = (counts.get(name) ?? 0) + change
  if (count === 0) counts.delete(name)
  else counts.set(name, count)
}

/** Counts the work that is in progress, and refuses what is too much. */
export class InProgress {
  readonly #counts: ShareCounts
  readonly #message: string

  /** `message`: of the refusal. */
  constructor(limits: Shares, reserve: Reserve, message: string) {
    this.#counts = new ShareCounts(limits, reserve)
    this.#message = message
  }

  /** Returns a function that ends the work. Calling that again has no effect. Throws an `ApiError` above a limit. */
  enter(requester: Requester): () => void {
    const lane = laneOf(requester)
    if (!this.#counts.hasRoom(requester, lane))
      throw new ApiError('RESOURCE_EXHAUSTED', this.#message, { retryAfterSeconds: 1 })
    this.#counts.add(requester, lane, 1)
    let isOver = false
    return () => {
      if (!isOver) this.#counts.add(requester, lane, -1)
      isOver = true
    }
  }
}
