import type { CloseReason } from '@plenum/protocol/realtime'
import type { Limits } from '../../config.ts'
import type { Peers } from '../../peers/peers.ts'
import { createSharedRateLimit } from '../../peers/shared-rate-limit.ts'
import type { Clock } from '../../platform/clock.ts'
import type { RateLimit } from '../../platform/rate-limit.ts'
import type { Database } from '../../store/engine/db.ts'
import * as openings from '../../store/documents/openings.ts'
import type { Identity } from './identity.ts'

/** Why a client cannot open a document although its access does not forbid it. */
export interface OpeningRefusal {
  allowed: false
  closeReason: CloseReason
  message: string
}

interface CreationLimitDeps {
  database: Database
  peers: Peers
  clock: Clock
  limits: Pick<Limits, 'createdByOpeningPerMinute' | 'createdByOpeningPerDay'>
}

/** A server reserves this many of an API key's daily creations at once, so that most creations need no query. */
const reservationSize = 50
const dayMs = 24 * 60 * 60 * 1000

/** Creations that this server has reserved for one API key. */
interface Reserve {
  /** Days since 1970. */
  day: number
  /** Reserved creations that are still unused. */
  left: number
  /** The reservation in progress, shared by all callers. */
  refilling: Promise<void> | undefined
}

/** Limits the documents that clients create by opening them: a rate for each user, a number a day for each API key. */
export class CreationLimits {
  readonly #deps: CreationLimitDeps
  readonly #perUser: Pick<RateLimit, 'take'>
  readonly #reserves = new Map<string, Reserve>()

  constructor(deps: CreationLimitDeps) {
    this.#deps = deps
    const { createdByOpeningPerMinute: limit } = deps.limits
    this.#perUser = createSharedRateLimit({ name: 'creations', limit, windowSeconds: 60 }, deps)
  }

  /**
   * Charges one document to the first of these clients that has creations left this minute. Backends are not limited.
   * Resolves with the reason if no client may create the document.
   */
  async take(openers: readonly Identity[]): Promise<OpeningRefusal | undefined> {
    let refusal: OpeningRefusal | undefined
    for (const { apiKey, userId, access } of openers) {
      if (access === 'backend') return undefined
      if ((await this.#perUser.take(`${apiKey}/${userId}`)) > 0) refusal = this.#rateLimited
      else return (await this.#takeFromDay(apiKey)) ? undefined : this.#dayExhausted
    }
    return refusal
  }

  async #takeFromDay(apiKey: string): Promise<boolean> {
    if (this.#deps.limits.createdByOpeningPerDay === 0) return true
    const day = Math.floor(this.#deps.clock.now() / dayMs)
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
    const amount = { wanted: reservationSize, max: limits.createdByOpeningPerDay }
    try {
      reserve.left += await database.write((db) => openings.reserve(db, apiKey, reserve.day, amount), apiKey)
    } finally {
      reserve.refilling = undefined
    }
  }

  get #rateLimited(): OpeningRefusal {
    const { createdByOpeningPerMinute: max } = this.#deps.limits
    return {
      allowed: false,
      closeReason: 'rateLimited',
      message: `A user creates at most ${max} documents a minute by opening (LIMIT_CREATED_BY_OPENING_PER_MINUTE).`,
    }
  }

  get #dayExhausted(): OpeningRefusal {
    const { createdByOpeningPerDay: max } = this.#deps.limits
    return {
      allowed: false,
      closeReason: 'tooMany',
      message: `An API key creates at most ${max} documents a day by opening (LIMIT_CREATED_BY_OPENING_PER_DAY).`,
    }
  }
}
