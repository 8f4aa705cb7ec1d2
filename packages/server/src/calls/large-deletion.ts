import type { Operation } from '@plenum/protocol'
import type { ApiKey } from '../store/api-keys.ts'
import type { Answer } from './answers/answer.ts'
import type { LargeDeletion } from './call.ts'
import type { Write } from './write.ts'

/** Runs an operation that deletes. If one transaction cannot delete everything, steps before it delete most of the rows. */
export async function runDeletion(
  write: Write,
  { scope: scopeOf, remove }: LargeDeletion<Operation>,
): Promise<Answer> {
  const { services, request, startedAt } = write
  const { deletions } = services
  const { apiKey } = request.caller as ApiKey
  const scope = scopeOf(request.input, startedAt)
  if (!scope) return write.commit(remove)
  const begun = await deletions.begin(
    apiKey,
    scope,
    async (db) => (await write.findStoredAnswer(db)) === undefined,
  )
  if (!begun) return write.commit(remove)
  const { deletion, removedIds } = begun
  let isFinished = false
  try {
    const answer = await write.commit(
      async (call) => {
        const result = await remove(call)
        await deletions.removeRecord(call.db, deletion)
        return result
      },
      { alreadyRemovedIds: removedIds },
    )
    // A replayed answer is that of an earlier request: the function above did not run.
    isFinished = answer.isReplayed !== true
    return answer
  } finally {
    deletions.onCallEnded(deletion, isFinished)
  }
}
