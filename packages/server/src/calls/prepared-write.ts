import { ApiError, type Operation } from '@plenum/protocol'
import type { Answer } from './answers/answer.ts'
import { type PreparedWrite, Stale } from './call.ts'
import type { QueuedCall } from './limits/subject-queues.ts'
import type { Write } from './write.ts'

type Handler = PreparedWrite<Operation>

/** How often a write is prepared before it fails, if other calls keep changing the same data. */
const maxPreparations = 5

/**
 * Prepares the write outside the transaction and commits it. Calls with the same subject run one after the other, or together if
 * the handler can do that.
 */
export function runPrepared(write: Write, handler: Handler, isShortRequest: boolean): Promise<Answer> {
  const isShort = isShortRequest && handler.isShort === true
  const run = () => prepareAndCommit(write, handler, isShort)
  if (!handler.subject) return run()
  const { services, request, lane, keyed } = write
  // The answer of a call with an idempotency key is stored with it, and the access of a live client is checked at the commit.
  const runTogether = keyed || request.client ? undefined : togetherWith(handler)
  const call = { item: write, bytes: request.bytes, run, runTogether }
  return services.subjectQueues.run(lane, handler.subject(write.readCall()), call)
}

async function prepareAndCommit(write: Write, handler: Handler, isShort: boolean): Promise<Answer> {
  const stored = await write.findStoredAnswer(write.services.database.read)
  if (stored) return stored
  return repeatWhileStale(async () => {
    write.stopIfAbandoned()
    const prepared = await handler.prepare(write.readCall())
    return write.commit((call) => handler.write(call, prepared as never), { isShort })
  })
}

async function repeatWhileStale<T>(work: () => Promise<T>): Promise<T> {
  for (let preparation = 1; ; preparation++) {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof Stale)) throw error
      if (preparation === maxPreparations) throw changedMeanwhile()
    }
  }
}

type RunTogether = QueuedCall<Write, Answer>['runTogether']
const known = new WeakMap<Handler, RunTogether>()

/** One function for each handler: only calls with the same function run together. */
function togetherWith(handler: Handler): RunTogether {
  const { prepareTogether } = handler
  if (!prepareTogether) return undefined
  const added = known.get(handler) ?? ((writes) => commitTogether(writes, handler, prepareTogether))
  known.set(handler, added)
  return added
}

/** Returns undefined, and writes nothing, if the calls cannot be prepared together, or nobody waits for one of them. */
async function commitTogether(
  writes: readonly Write[],
  handler: Handler,
  prepareTogether: NonNullable<Handler['prepareTogether']>,
): Promise<readonly Answer[] | undefined> {
  return repeatWhileStale(async () => {
    if (writes.some(({ isAbandoned }) => isAbandoned)) return undefined
    const calls = writes.map((write) => write.readCall())
    const prepared = await prepareTogether(calls).catch(ignoreRefusal)
    if (prepared === undefined) return undefined
    const last = writes.at(-1) as Write
    const answer = await last.commit((call) => handler.write(call, prepared as never), { isShared: true })
    return writes.map(() => answer)
  })
}

/** One of the calls may be refused or take too long, which is no reason to refuse the others. A busy server refuses all. */
function ignoreRefusal(error: unknown): undefined {
  const concernsOne = error instanceof ApiError && error.retryAfterSeconds === undefined
  if (!concernsOne) throw error
}

const changedMeanwhile = () =>
  new ApiError('ABORTED', 'Other calls changed the same data at the same time. Try again.', {
    retryAfterSeconds: 1,
  })
