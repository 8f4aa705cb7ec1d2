import { sql } from 'kysely'
import type { Db } from './engine/db.ts'
import { deleteSome } from './engine/some-rows.ts'

export interface IdempotencyKey {
  scope: string
  operation: string
  key: string
}

export interface StoredAnswer {
  bodyHash: string
  httpStatus: number
  /** The sealed answer. */
  response: Uint8Array
}

/** A stored answer is replayed this long. */
export const retentionMs = 24 * 60 * 60 * 1000

export async function find(db: Db, id: IdempotencyKey, now: number): Promise<StoredAnswer | undefined> {
  const row = await db
    .selectFrom('idempotency_keys')
    .select(['body_hash', 'http_status', 'response', 'created_at'])
    .where('scope', '=', id.scope)
    .where('operation', '=', id.operation)
    .where('idempotency_key', '=', id.key)
    .executeTakeFirst()
  if (!row || row.created_at + retentionMs <= now) return undefined
  return { bodyHash: row.body_hash, httpStatus: row.http_status, response: row.response }
}

/** Stores an answer. It replaces any answer with the same key, also one that has not expired, so call `find` first. */
export async function put(db: Db, id: IdempotencyKey, answer: StoredAnswer, now: number): Promise<void> {
  const values = {
    body_hash: answer.bodyHash,
    http_status: answer.httpStatus,
    response: answer.response,
    created_at: now,
  }
  await db
    .insertInto('idempotency_keys')
    .values({ scope: id.scope, operation: id.operation, idempotency_key: id.key, ...values })
    .onConflict((conflict) => conflict.columns(['scope', 'operation', 'idempotency_key']).doUpdateSet(values))
    .execute()
}

/** Removes expired answers, at most `maxRows`. Returns their number. */
export const prune = (db: Db, now: number, maxRows: number): Promise<number> =>
  deleteSome(db, 'idempotency_keys', sql`created_at <= ${now - retentionMs}`, maxRows)
