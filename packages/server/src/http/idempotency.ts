import { hash } from 'node:crypto'
import { ApiError } from '@plenum/protocol'
import type { Secrets } from '../access/secrets.ts'
import type { Database, Db } from '../store/db.ts'
import * as idempotency from '../store/idempotency.ts'
import type { IdempotencyKey } from '../store/idempotency.ts'

export interface Answer {
  httpStatus: number
  body: string | Buffer
  replayed?: boolean
}

const inProgress = () =>
  new ApiError('ABORTED', 'A request with this Idempotency-Key is in progress.', { retryAfterSeconds: 1 })

/** The key of the request, checked; undefined when the caller sent none. */
export function readIdempotencyKey(header: string | string[] | undefined): string | undefined {
  if (header === undefined) return undefined
  if (typeof header === 'string' && /^[\x21-\x7e]{1,255}$/.test(header)) return header
  throw new ApiError('INVALID_ARGUMENT', 'Idempotency-Key must have 1 to 255 visible ASCII characters.')
}

/** Runs a write once for each key: its answer is kept in the transaction that has the effect. */
export function createIdempotency(database: Database, secrets: Secrets) {
  const running = new Set<string>()

  return async (
    id: IdempotencyKey,
    body: string,
    now: number,
    transaction: (work: (db: Db) => Promise<Answer>) => Promise<Answer>,
    effect: (db: Db) => Promise<Answer>,
  ): Promise<Answer> => {
    const name = JSON.stringify([id.scope, id.operation, id.key])
    if (running.has(name)) throw inProgress()
    running.add(name)
    try {
      return await transaction(async (db) => {
        // Another server may be running it.
        if (!(await database.tryLock(db, name))) throw inProgress()
        const bodyHash = hash('sha256', body)
        const kept = await idempotency.find(db, id, now)
        if (kept) {
          if (kept.bodyHash !== bodyHash) {
            throw new ApiError('INVALID_ARGUMENT', 'This Idempotency-Key was used with another request body.')
          }
          const text = secrets.unseal(kept.response, name).toString()
          return { httpStatus: kept.httpStatus, body: text, replayed: true }
        }
        const answer = await effect(db)
        const response = secrets.seal(answer.body, name)
        await idempotency.keep(db, id, { bodyHash, httpStatus: answer.httpStatus, response }, now)
        return answer
      })
    } finally {
      running.delete(name)
    }
  }
}
