import { ApiError, type Operation } from '@plenum/protocol'
import type { CombinedWork, Db, Outcome } from '../store/engine/db.ts'
import { type Answer, answerOf } from './answers/answer.ts'
import type { CombinedWrite, SimpleHandler } from './call.ts'
import type { Write } from './write.ts'

/**
 * Runs a call together with the other calls of its operation that arrive at the same time. A call runs by itself if it is
 * long, has an idempotency key (its answer is stored with it) or comes from a live client (its access is checked at the
 * commit). A short one may still share its transaction.
 */
export function runCombined(
  write: Write,
  handler: CombinedWrite<Operation>,
  isShort: boolean,
): Promise<Answer> {
  const { services, request, keyed, lane } = write
  if (keyed || request.client || !isShort) return write.commit(asSimpleHandler(handler), { isShort })
  return write.finish(services.database.writeCombined(workOf(handler), write, lane))
}

const asSimpleHandler =
  ({ writeAll }: CombinedWrite<Operation>): SimpleHandler<Operation> =>
  async (call) => {
    const [result] = await writeAll([call])
    if (result === undefined) throw new Error('A combined write must answer a call that runs alone.')
    if (result instanceof ApiError) throw result
    return result
  }

const works = new WeakMap<CombinedWrite<Operation>, CombinedWork<Write, Answer>>()

/** One object for each handler: the database combines the calls that have the same. */
function workOf(handler: CombinedWrite<Operation>): CombinedWork<Write, Answer> {
  const known = works.get(handler)
  if (known) return known
  const added = {
    async runAll(db: Db, writes: readonly Write[]): Promise<(Outcome<Answer> | undefined)[]> {
      const awaited = writes.filter(({ request }) => request.abandoned?.aborted !== true)
      const calls = awaited.map((write) => write.begin(db))
      const results = calls.length > 0 ? await handler.writeAll(calls) : []
      const isDone = (result: unknown) => result !== undefined && !(result instanceof ApiError)
      const messages = calls.flatMap((call, index) => (isDone(results[index]) ? call.messages : []))
      await writes[0]?.services.signals.store(db, messages)
      const indexes = new Map(awaited.map((write, index) => [write, index]))
      return writes.map((write) => {
        const { callable, abandoned } = write.request
        const index = indexes.get(write)
        if (index === undefined) return { error: abandoned?.reason as ApiError }
        const result = results[index]
        if (result === undefined) return undefined
        if (result instanceof ApiError) return { error: result }
        return { value: answerOf(callable.declaration, result) }
      })
    },
  }
  works.set(handler, added)
  return added
}
