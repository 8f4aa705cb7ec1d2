import type { Operation } from '@plenum/protocol'
import { mayBeCommitted, whenCertain } from '../store/engine/certainty.ts'
import type { Db } from '../store/engine/db.ts'
import { type Answer, answerOf } from './answers/answer.ts'
import type { CallRequest } from './call-request.ts'
import type { SimpleHandler } from './call.ts'
import { callerLane, callerScope } from './caller-scope.ts'
import { type KeyedRequest, readIdempotencyKey } from './idempotency.ts'
import { OperationCall } from './operation-call.ts'
import type { Services } from './services.ts'

interface CommitOptions {
  /** Whether the transaction may be shared with other short work. */
  isShort?: boolean
  /** Whether the write is that of other calls too. Then it goes on although nobody waits for this one any more. */
  isShared?: boolean
  /** See `Call`. */
  alreadyRemovedIds?: readonly string[] | undefined
}

/** A call of an operation that writes: its transaction, and what follows the commit. */
export class Write {
  readonly services: Services
  readonly request: CallRequest
  readonly startedAt: number
  /** See `callerLane`. */
  readonly lane: string
  /** Undefined: the caller sent no idempotency key. */
  readonly keyed: KeyedRequest | undefined
  /** The call whose transaction commits. Undefined: the answer was stored before, and no handler ran. */
  #committing: OperationCall | undefined

  constructor(services: Services, request: CallRequest, startedAt: number) {
    this.services = services
    this.request = request
    this.startedAt = startedAt
    const { access } = request.callable.declaration
    this.lane = callerLane(access, request.caller)
    this.keyed = keyedRequest(callerScope(access, request.caller), request, startedAt)
  }

  /** The call for a handler that runs outside the transaction: it reads committed data. */
  readCall(): OperationCall {
    return new OperationCall(this.services, this.request, this.services.database.read, this.startedAt)
  }

  /** Returns the answer that is stored for the caller's idempotency key, or undefined if there is none. */
  async findStoredAnswer(db: Db): Promise<Answer | undefined> {
    return this.keyed && this.services.idempotency.find(db, this.keyed)
  }

  get isAbandoned(): boolean {
    return this.request.abandoned?.aborted === true
  }

  /** Throws if nobody waits for the answer any more. Call it before the write begins, or begins again. */
  stopIfAbandoned(): void {
    this.request.abandoned?.throwIfAborted()
  }

  /** Begins the call that a handler gets inside the transaction. If the transaction runs again, it begins another call. */
  begin(db: Db, alreadyRemovedIds?: readonly string[]): OperationCall {
    this.#committing = new OperationCall(this.services, this.request, db, this.startedAt, alreadyRemovedIds)
    return this.#committing
  }

  /** Runs the handler in a transaction and finishes the call. */
  commit(
    run: SimpleHandler<Operation>,
    { isShort = false, isShared = false, alreadyRemovedIds }: CommitOptions = {},
  ): Promise<Answer> {
    const { services, request, keyed } = this
    const effect = async (db: Db) => {
      // A deletion of which most is done goes on.
      if (!alreadyRemovedIds && !isShared) this.stopIfAbandoned()
      const call = this.begin(db, alreadyRemovedIds)
      const answer = answerOf(request.callable.declaration, await run(call))
      await services.signals.store(db, call.messages)
      return answer
    }
    const attempt = (db: Db) => {
      // After a collision the transaction is tried again, and may then find the answer that another server stored.
      this.#committing = undefined
      return keyed ? services.idempotency.once(db, keyed, effect) : effect(db)
    }
    return this.finish(this.#transact(attempt, isShort))
  }

  /**
   * Waits until the transaction is durable, and publishes the signals to open sessions. Resolves when the sessions have them,
   * so that a user who lost access cannot write after the caller got the answer.
   */
  async finish(transaction: Promise<Answer>): Promise<Answer> {
    const answer = await transaction.catch((error: unknown) => {
      if (mayBeCommitted(error)) {
        void whenCertain(this.services.database).then(() => this.#committing?.onUncertain())
      }
      throw error
    })
    const underWay = this.#committing?.onCommitted()
    if (underWay) await underWay
    return answer
  }

  #transact(work: (db: Db) => Promise<Answer>, isShort: boolean): Promise<Answer> {
    const { request, services, lane } = this
    // The write of a live client also checks at the commit that the client may still write.
    if (request.client) return request.client.write(work, lane)
    return services.database[isShort ? 'writeShort' : 'write'](work, lane)
  }
}

function keyedRequest(scope: string, request: CallRequest, now: number): KeyedRequest | undefined {
  const key = readIdempotencyKey(request.idempotencyKey)
  if (key === undefined) return undefined
  const { version, callable, input } = request
  return { id: { scope, operation: `${version} ${callable.name}`, key }, body: JSON.stringify(input), now }
}
