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
import { requesterOf } from '../platform/turns/in-progress.ts'
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
  const { validate, validateUnderV1 = validate } = callable
  if (version === 'v1') validateUnderV1(input)
  else validate(input)
  const startedAt = services.clock.now()
  if (declaration.effect === 'write') {
    const write = new Write(services, request, startedAt)
    const waiting = whenReady(services, request)
    if (waiting) await waiting
    return runWrite(write, handler)
  }
  const leave =
    'apiKey' in caller ? services.reads.enter(requesterOf(caller, request.client?.user)) : undefined
  try {
    const waiting = whenReady(services, request)
    if (waiting) await waiting
    request.abandoned?.throwIfAborted()
    const call = new OperationCall(services, request, services.database.read, startedAt)
    const answer = answerOf(declaration, await (handler as SimpleHandler<Operation>)(call))
    return leave ? { ...answer, onSent: both(answer.onSent, leave) } : answer
  } catch (error) {
    leave?.()
    throw error
  }
}

const both = (one: (() => void) | undefined, other: () => void) =>
  one
    ? () => {
        one()
        other()
      }
    : other

/** Waits for deletions of what the call names, and for the permission provider. Returns undefined if nothing is waited for. */
function whenReady(services: Services, request: CallRequest): Promise<void> | undefined {
  const { callable, caller } = request
  const waitsForDeletions =
    'apiKey' in caller && services.deletions.mayAffect(caller) && !callable.declaration.reportsProgress
  return waitsForDeletions || 'user' in caller ? beReady(services, request, waitsForDeletions) : undefined
}

async function beReady(
  services: Services,
  { caller, input }: CallRequest,
  waitsForDeletions: boolean,
): Promise<void> {
  if (waitsForDeletions && 'apiKey' in caller)
    await services.deletions.waitWhileAffected(caller.apiKey, namedResourcesIn(input))
  if ('user' in caller) await askProvider(services, caller, input)
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
