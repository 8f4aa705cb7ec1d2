import type { CloseReason } from '@plenum/protocol/realtime'
import type { Limits } from '../../config.ts'
import { memoryCounter } from '../../platform/counters/memory.ts'
import type { Database } from '../../store/engine/db.ts'
import * as openings from '../../store/documents/openings.ts'
import type { Identity } from './identify.ts'

/** Why a document that does not exist is not created for the client that opens it. */
export interface CreationRefusal {
  allowed: false
  closeReason: CloseReason
  message: string
}

interface CreationLimitDeps {
  database: Database
  now: () => number
  limits: Pick<Limits, 'createdByOpeningPerMinute' | 'createdByOpeningPerDay'>
}

/** Documents that a server reserves at once of what its API key may create in a day: most creations cost no statement. */
const reservedTogether = 50
const dayMs = 24 * 60 * 60 * 1000

interface Reserve {
  day: number
  left: number
  /** Under way: callers wait for the same one. */
  refilling: Promise<void> | undefined
}

/** How many documents may be created by opening them: a rate for each user, and a number a day for each API key. */
export class CreationLimits {
  readonly #deps: CreationLimitDeps
  readonly #perUser: ReturnType<typeof memoryCounter>
  readonly #reserves = new Map<string, Reserve>()

  constructor(deps: CreationLimitDeps) {
    this.#deps = deps
    this.#perUser = memoryCounter(deps.limits.createdByOpeningPerMinute, 60)
  }

  /** Counts one document for the first of these clients that may still create one. Backends are not limited. */
  async take(openers: readonly Identity[]): Promise<CreationRefusal | undefined> {
    let refusal: CreationRefusal | undefined
    for (const { apiKey, userId, access } of openers) {
      if (access === 'server') return undefined
      if ((await this.#perUser.take(`${apiKey}/${userId}`)) > 0) refusal = this.#rateLimited
      else return (await this.#takeOfDay(apiKey)) ? undefined : this.#dayIsFull
    }
    return refusal
  }

  async #takeOfDay(apiKey: string): Promise<boolean> {
    if (this.#deps.limits.createdByOpeningPerDay === 0) return true
    const day = Math.floor(this.#deps.now() / dayMs)
    let reserve = this.#reserves.get(apiKey)
    if (reserve?.day !== day) {
      reserve = { day, left: 0, refilling: undefined }
      this.#reserves.set(apiKey, reserve)
    }
    if (reserve.left === 0) await (reserve.refilling ??= this.#refill(apiKey, reserve))
    if (reserve.left === 0) return false
    reserve.left--
    return true
  }

  async #refill(apiKey: string, reserve: Reserve): Promise<void> {
    const { database, limits } = this.#deps
    const amount = { wanted: reservedTogether, max: limits.createdByOpeningPerDay }
    try {
      reserve.left += await database.write((db) => openings.reserve(db, apiKey, reserve.day, amount), apiKey)
    } finally {
      reserve.refilling = undefined
    }
  }

  get #rateLimited(): CreationRefusal {
    const { createdByOpeningPerMinute: max } = this.#deps.limits
    return {
      allowed: false,
      closeReason: 'rateLimited',
      message: `A user creates at most ${max} documents a minute by opening (LIMIT_CREATED_BY_OPENING_PER_MINUTE).`,
    }
  }

  get #dayIsFull(): CreationRefusal {
    const { createdByOpeningPerDay: max } = this.#deps.limits
    return {
      allowed: false,
      closeReason: 'tooMany',
      message: `An API key creates at most ${max} documents a day by opening (LIMIT_CREATED_BY_OPENING_PER_DAY).`,
    }
  }
}
