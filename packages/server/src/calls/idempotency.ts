import { hash } from 'node:crypto'
import { ApiError } from '@plenum/protocol'
import type { Secrets } from '../access/tokens/secrets.ts'
import type { Database, Db } from '../store/engine/db.ts'
import * as idempotency from '../store/idempotency.ts'
import type { IdempotencyKey } from '../store/idempotency.ts'
import type { Body } from './written-json.ts'

export interface Answer {
  httpStatus: number
  body: Body
  replayed?: boolean
  /** Called once when the answer has been sent, or cannot be. */
  onSent?: () => void
}

/** A request that carries an idempotency key. */
export interface KeyedRequest {
  id: IdempotencyKey
  /** What the caller sent, as text: the same key with another body is refused. */
  body: string
  now: number
}

const inProgress = () =>
  new ApiError('ABORTED', 'A request with this Idempotency-Key is in progress.', { retryAfterSeconds: 1 })

/** The key of the request, checked; undefined when the caller sent none. */
export function readIdempotencyKey(header: string | string[] | undefined): string | undefined {
  if (header === undefined) return undefined
  if (typeof header === 'string' && /^[\x21-\x7e]{1,255}$/.test(header)) return header
  throw new ApiError('INVALID_ARGUMENT', 'Idempotency-Key must have 1 to 255 visible ASCII characters.')
}

const nameOf = ({ id }: KeyedRequest) => JSON.stringify([id.scope, id.operation, id.key])

/** Runs a write once for each key: its answer is kept in the transaction that has the effect. */
export function createIdempotency(database: Database, secrets: Secrets) {
  const running = new Set<string>()

  /** The answer that is kept for the key; undefined if there is none. */
  async function find(db: Db, request: KeyedRequest): Promise<Answer | undefined> {
    const kept = await idempotency.find(db, request.id, request.now)
    if (!kept) return undefined
    if (kept.bodyHash !== hash('sha256', request.body)) {
      throw new ApiError('INVALID_ARGUMENT', 'This Idempotency-Key was used with another request body.')
    }
    const body = secrets.unseal(kept.response, nameOf(request)).toString()
    return { httpStatus: kept.httpStatus, body, replayed: true }
  }

  return {
    find,

    /** Refuses a second request with the same key while the first one runs on this server. */
    async alone(request: KeyedRequest, run: () => Promise<Answer>): Promise<Answer> {
      const name = nameOf(request)
      if (running.has(name)) throw inProgress()
      running.add(name)
      try {
        return await run()
      } finally {
        running.delete(name)
      }
    },

    /** Inside the transaction: the kept answer, or that of the effect, which is kept. */
    async once(db: Db, request: KeyedRequest, effect: (db: Db) => Promise<Answer>): Promise<Answer> {
      // Another server may be running it.
      if (!(await database.tryLock(db, nameOf(request)))) throw inProgress()
      const kept = await find(db, request)
      if (kept) return kept
      const answer = await effect(db)
      const { id, body, now } = request
      const response = secrets.seal(whole(answer.body), nameOf(request))
      const bodyHash = hash('sha256', body)
      await idempotency.keep(db, id, { bodyHash, httpStatus: answer.httpStatus, response }, now)
      return answer
    },
  }
}

const whole = (body: Body): string | Uint8Array =>
  typeof body === 'string' || body instanceof Uint8Array ? body : Buffer.concat(body)
