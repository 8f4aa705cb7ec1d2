import { ApiError } from '@plenum/protocol'
import { LazyMap } from '../lazy-collections.ts'

/** Who asked for some work. */
export interface Requester {
  apiKey: string
  /** Undefined: a backend with the credentials of the API key. */
  user?: { userId: string } | undefined
}

export interface InProgressLimits {
  perUser: number
  perKey: number
  perServer: number
}

/** The work of a user, or of the backends of an API key, has this lane. */
export const laneOf = ({ apiKey, user }: Requester): string => (user ? `${apiKey}/${user.userId}` : apiKey)

/** Counts the work that is in progress, for each user, for each API key and for the server, and refuses more than the limits. */
export class InProgress {
  readonly #limits: InProgressLimits
  readonly #message: string
  readonly #byUser = new LazyMap<string, number>()
  readonly #byKey = new LazyMap<string, number>()
  #count = 0

  /** `message`: of the refusal. */
  constructor(limits: InProgressLimits, message: string) {
    this.#limits = limits
    this.#message = message
  }

  /** Returns a function that ends the work. Calling that again has no effect. Throws an `ApiError` above a limit. */
  enter(requester: Requester): () => void {
    const { perUser, perKey, perServer } = this.#limits
    const { apiKey, user } = requester
    const lane = user && laneOf(requester)
    const ofKey = this.#byKey.get(apiKey) ?? 0
    const ofUser = lane === undefined ? 0 : (this.#byUser.get(lane) ?? 0)
    if (ofUser >= perUser || ofKey >= perKey || this.#count >= perServer)
      throw new ApiError('RESOURCE_EXHAUSTED', this.#message, { retryAfterSeconds: 1 })
    this.#count++
    this.#byKey.set(apiKey, ofKey + 1)
    if (lane !== undefined) this.#byUser.set(lane, ofUser + 1)
    let isOver = false
    return () => {
      if (isOver) return
      isOver = true
      this.#count--
      decrease(this.#byKey, apiKey)
      if (lane !== undefined) decrease(this.#byUser, lane)
    }
  }
}

function decrease(counts: LazyMap<string, number>, name: string): void {
  const left = (counts.get(name) ?? 1) - 1
  if (left === 0) counts.delete(name)
  else counts.set(name, left)
}
