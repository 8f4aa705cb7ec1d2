import { ApiError, type Operation } from '@plenum/protocol'
import type { Answer } from './answers/answer.ts'
import { type PreparedWrite, Stale } from './call.ts'
import type { Write } from './write.ts'

/** How often a write is prepared before it fails, if other calls keep changing the same data. */
const maxPreparations = 5

/** Prepares the write outside the transaction and commits it. Calls with the same subject run one after the other. */
export function runPrepared(
  write: Write,
  handler: PreparedWrite<Operation>,
  isShortRequest: boolean,
): Promise<Answer> {
  const isShort = isShortRequest && handler.isShort === true
  if (!handler.subject) return prepareAndCommit(write, handler, isShort)
  const { services, request, lane } = write
  const subject = handler.subject(write.readCall())
  return services.subjectQueues.run(lane, subject, request.bytes, () =>
    prepareAndCommit(write, handler, isShort),
  )
}

async function prepareAndCommit(
  write: Write,
  handler: PreparedWrite<Operation>,
  isShort: boolean,
): Promise<Answer> {
  const stored = await write.findStoredAnswer(write.services.database.read)
  if (stored) return stored
  for (let preparation = 1; ; preparation++) {
    write.stopIfAbandoned()
    const prepared = await handler.prepare(write.readCall())
    try {
      return await write.commit((call) => handler.write(call, prepared as never), { isShort })
    } catch (error) {
      if (!(error instanceof Stale)) throw error
      if (preparation === maxPreparations) throw changedMeanwhile()
    }
  }
}

const changedMeanwhile = () =>
  new ApiError('ABORTED', 'Other calls changed the same data at the same time. Try again.', {
    retryAfterSeconds: 1,
  })
