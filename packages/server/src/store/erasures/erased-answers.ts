import { ApiError } from '@plenum/protocol'
import { sql } from 'kysely'
import { hasWord } from '../../platform/patterns.ts'
import type { RowStep } from '../deletions/row-step.ts'
import type { IdempotencyKey } from '../idempotency.ts'
import { usersPerhapsNamedIn } from './named-users.ts'
import { scanRows } from './row-scan.ts'
import type { ErasedIds } from './without-users.ts'

/** Opens and seals stored answers. */
export interface AnswerSeals {
  /** Undefined: it was sealed with another secret, so nobody can read it. */
  open(id: IdempotencyKey, sealed: Uint8Array): Buffer | undefined
  seal(id: IdempotencyKey, answer: string): Uint8Array
}

/**
 * What a request gets that is repeated with its idempotency key, after its answer was removed. The key stays: without it, the
 * request would run a second time.
 */
const answerIsGone = new ApiError(
  'FAILED_PRECONDITION',
  'A request with this Idempotency-Key was executed. Its answer was removed, because it named a user who was erased.',
)

/**
 * Replaces the stored answers to the users, and others that name them. They are sealed, so each is opened. If the users are
 * erased everywhere, no row with their ids remains. Otherwise they may repeat a request, which must not run a second time.
 */
export function replaceAnswers(
  apiKey: string,
  { userIds, addresses }: ErasedIds,
  seals: AnswerSeals,
  { isEverywhere }: { isEverywhere: boolean },
): RowStep {
  const texts = Array.from(userIds, (id) => JSON.stringify(id).slice(1, -1))
  const namesErased = (answer: string) => {
    if (hasWord(answer, addresses)) return true
    // Most answers have none of the ids, and need not be parsed.
    if (!texts.some((text) => answer.includes(text))) return false
    return [...usersPerhapsNamedIn(JSON.parse(answer))].some((id) => userIds.has(id))
  }
  /** Those of the users themselves (`callerScope`). */
  const scopes = new Set([...userIds].map((userId) => `${apiKey}/user/${userId}`))
  return scanRows({
    table: 'idempotency_keys',
    key: ['scope', 'operation', 'idempotency_key'],
    columns: ['response'],
    // Those of the backend and of all users of the API key (`callerScope`): no other scope is between them.
    where: sql`scope >= ${apiKey} and scope < ${`${apiKey}/user0`}`,
    // An answer may have megabytes.
    rowsPerStep: 2,
    async visit(db, rows, ofRow) {
      for (const row of rows) {
        const isOwn = scopes.has(row.scope)
        if (isOwn && isEverywhere) {
          await sql`delete from idempotency_keys where ${ofRow(row)}`.execute(db)
          continue
        }
        const { scope, operation, idempotency_key: key, response: sealed } = row
        const answer = seals.open({ scope, operation, key }, sealed)
        if (answer && !isOwn && !namesErased(answer.toString())) continue
        const response = seals.seal({ scope, operation, key }, JSON.stringify(answerIsGone.toBody()))
        await sql`
          update idempotency_keys set http_status = ${answerIsGone.httpStatus}, response = ${response}
          where ${ofRow(row)}`.execute(db)
      }
    },
  })
}
