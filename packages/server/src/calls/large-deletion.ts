import type { Operation } from '@plenum/protocol'
import type { ApiKey } from '../store/api-keys.ts'
import type { Answer } from './answer.ts'
import type { LargeDeletion } from './call.ts'
import type { Write } from './write.ts'

/** Removes in steps what is too large for one transaction, then commits the operation's own transaction. */
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
    const answer = await write.commit(async (call) => {
      const result = await remove(call)
      await deletions.finish(call.db, deletion)
      return result
    }, removedIds)
    isFinished = answer.isReplayed !== true
    return answer
  } finally {
    deletions.ended(deletion, isFinished)
  }
}
