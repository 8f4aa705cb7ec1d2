import { hash } from 'node:crypto'
import { ApiError } from '@plenum/protocol'
import { sealContexts } from '../access/credentials/seal-contexts.ts'
import type { Secrets } from '../access/credentials/secrets.ts'
import type { Database, Db } from '../store/engine/db.ts'
import * as idempotency from '../store/idempotency.ts'
import type { IdempotencyKey } from '../store/idempotency.ts'
import type { Answer } from './answers/answer.ts'
import { joinedBody } from './answers/encoded-json.ts'

/** A request that carries an idempotency key. */
export interface KeyedRequest {
  id: IdempotencyKey
  /** The input as text. The same key with another input is refused. */
  body: string
  now: number
}

const inProgress = () =>
  new ApiError('ABORTED', 'A request with this Idempotency-Key is in progress.', { retryAfterSeconds: 1 })

/** Validates the header `Idempotency-Key`. Returns undefined if the caller sent none. */
export function readIdempotencyKey(header: string | string[] | undefined): string | undefined {
  if (header === undefined) return undefined
  if (typeof header === 'string' && /^[\x21-\x7e]{1,255}$/.test(header)) return header
  throw new ApiError('INVALID_ARGUMENT', 'Idempotency-Key must have 1 to 255 visible ASCII characters.')
}

const nameOf = ({ id }: KeyedRequest) => sealContexts.storedAnswer(id.scope, id.operation, id.key)

/** Runs a write once for each idempotency key: the transaction that writes also stores the answer. */
export function createIdempotency(database: Database, secrets: Secrets) {
  /** The requests with a key that run on this server. */
  const running = new Set<string>()

  /** Returns the answer that is stored for the key, or undefined if there is none. */
  async function find(db: Db, request: KeyedRequest): Promise<Answer | undefined> {
    const stored = await idempotency.find(db, request.id, request.now)
    if (!stored) return undefined
    if (stored.bodyHash !== hash('sha256', request.body)) {
      throw new ApiError('INVALID_ARGUMENT', 'This Idempotency-Key was used with another request body.')
    }
    const body = secrets.unseal(stored.response, nameOf(request)).toString()
    return { httpStatus: stored.httpStatus, body, isReplayed: true }
  }

  return {
    find,

    /** Runs a request, unless another one with the same key runs on this server: then it throws. */
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

    /** Call it inside the transaction. Returns the stored answer, or runs `effect` and stores its answer. */
    async once(db: Db, request: KeyedRequest, effect: (db: Db) => Promise<Answer>): Promise<Answer> {
      // A request with the same key may run on another server.
      if (!(await database.tryLock(db, nameOf(request)))) throw inProgress()
      const stored = await find(db, request)
      if (stored) return stored
      const answer = await effect(db)
      const { id, body, now } = request
      const response = secrets.seal(joinedBody(answer.body), nameOf(request))
      const bodyHash = hash('sha256', body)
      await idempotency.put(db, id, { bodyHash, httpStatus: answer.httpStatus, response }, now)
      return answer
    },
  }
}

export type Idempotency = ReturnType<typeof createIdempotency>
