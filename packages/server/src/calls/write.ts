import type { Operation } from '@plenum/protocol'
import { mayBeCommitted, whenCertain } from '../store/engine/certainty.ts'
import type { Database, Db } from '../store/engine/db.ts'
import { type Answer, answerOf } from './answers/answer.ts'
import type { CallRequest } from './call-request.ts'
import type { SimpleHandler } from './call.ts'
import { callerScope } from './caller-scope.ts'
import { type KeyedRequest, readIdempotencyKey } from './idempotency.ts'
import { OperationCall } from './operation-call.ts'
import type { Services } from './services.ts'

/** A call of an operation that writes: its transaction, and what follows the commit. */
export class Write {
  readonly services: Services
  readonly request: CallRequest
  readonly startedAt: number
  readonly callerScope: string
  /** Undefined: the caller sent no idempotency key. */
  readonly keyed: KeyedRequest | undefined

  constructor(services: Services, request: CallRequest, startedAt: number) {
    this.services = services
    this.request = request
    this.startedAt = startedAt
    this.callerScope = callerScope(request.callable.declaration.access, request.caller)
    this.keyed = keyedRequest(this.callerScope, request, startedAt)
  }

  /** The call for a handler that runs outside the transaction: it reads committed data. */
  readCall(): OperationCall {
    return new OperationCall(this.services, this.request, this.services.database.read, this.startedAt)
  }

  /** Returns the answer that is stored for the caller's idempotency key, or undefined if there is none. */
  async findStoredAnswer(db: Db): Promise<Answer | undefined> {
    return this.keyed && this.services.idempotency.find(db, this.keyed)
  }

  /**
   * Runs the handler in a transaction, waits until it is durable, and publishes the signals to open sessions. Resolves when
   * the sessions have them, so that a user who lost access cannot write after the caller got the answer.
   */
  async commit(run: SimpleHandler<Operation>, alreadyRemovedIds?: readonly string[]): Promise<Answer> {
    const { services, request, keyed, startedAt } = this
    const { database, idempotency } = services
    /** The call whose transaction commits. Undefined: the answer was stored before, and no handler ran. */
    let committing: OperationCall | undefined
    const effect = async (db: Db) => {
      committing = new OperationCall(services, request, db, startedAt, alreadyRemovedIds)
      return answerOf(request.callable.declaration, await run(committing))
    }
    const attempt = (db: Db) => {
      // After a collision the transaction is tried again, and may then find the answer that another server stored.
      committing = undefined
      return keyed ? idempotency.once(db, keyed, effect) : effect(db)
    }
    // The write of a live client also checks at the commit that the client may still write.
    const transaction: Pick<Database, 'write'> = request.client ?? database
    const answer = await transaction.write(attempt, this.callerScope).catch((error: unknown) => {
      if (mayBeCommitted(error)) void whenCertain(database).then(() => committing?.onUncertain())
      throw error
    })
    const underWay = committing?.onCommitted()
    if (underWay) await underWay
    return answer
  }
}

function keyedRequest(scope: string, request: CallRequest, now: number): KeyedRequest | undefined {
  const key = readIdempotencyKey(request.idempotencyKey)
  if (key === undefined) return undefined
  const { version, callable, input } = request
  return { id: { scope, operation: `${version} ${callable.name}`, key }, body: JSON.stringify(input), now }
}
