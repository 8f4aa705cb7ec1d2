import type { Operation } from '@plenum/protocol'
import { namedResourcesIn } from '../deletions/named-resources.ts'
import { type Answer, answerOf } from './answers/answer.ts'
import type { CallRequest } from './call-request.ts'
import { runCombined } from './combined-write.ts'
import type { AnyHandler, SimpleHandler } from './call.ts'
import { askProvider } from './provider-questions.ts'
import { OperationCall } from './operation-call.ts'
import { runPrepared } from './prepared-write.ts'
import { runDeletion } from './large-deletion.ts'
import type { Services } from './services.ts'
import { Write } from './write.ts'

/**
 * Runs one operation: validates the input, then reads, or writes in a transaction and answers when it is durable. The
 * transport authenticates the caller and checks its rate limit before, because HTTP does both before it reads the body.
 *
 * The stations of a call: the transport turns its request into a `CallRequest`, `runCall` makes a `Write` of it if the
 * operation writes, and the transaction of that write makes an `OperationCall`, which the handler sees as `Call`.
 */
export async function runCall(services: Services, request: CallRequest): Promise<Answer> {
  const { callable, version, input, caller } = request
  const { declaration, handler } = callable
  if (version === 'v1') callable.dropFieldsIgnoredByV1?.(input)
  callable.validate(input)
  const startedAt = services.clock.now()
  const write = declaration.effect === 'write' ? new Write(services, request, startedAt) : undefined

  const { deletions, database } = services
  if ('apiKey' in caller && deletions.mayAffect(caller) && !declaration.reportsProgress) {
    await deletions.waitWhileAffected(caller.apiKey, namedResourcesIn(input))
  }
  if ('user' in caller) await askProvider(services, caller, input)
  if (write) return runWrite(write, handler)
  const call = new OperationCall(services, request, database.read, startedAt)
  return answerOf(declaration, await (handler as SimpleHandler<Operation>)(call))
}

/** A larger request may take so long that others should not wait for its transaction. */
const maxShortBytes = 16 * 1024

function runWrite(write: Write, handler: AnyHandler): Promise<Answer> {
  const isShort = write.request.bytes <= maxShortBytes
  const run = () => {
    if (typeof handler === 'function') return write.commit(handler, { isShort })
    if ('writeAll' in handler) return runCombined(write, handler, isShort)
    return 'prepare' in handler ? runPrepared(write, handler, isShort) : runDeletion(write, handler)
  }
  return write.keyed ? write.services.idempotency.alone(write.keyed, run) : run()
}
