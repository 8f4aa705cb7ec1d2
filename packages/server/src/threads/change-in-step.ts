import type { Signal } from '../bus.ts'
import type { ApiKeySignals } from '../peers/signals.ts'
import type { Database } from '../store/engine/db.ts'
import type { ThreadContext, ThreadServices } from './thread-changes.ts'

type StepCall = Pick<ThreadContext, 'caller' | 'now'> & {
  services: ThreadServices & { writeStep: Database['write'] }
}

/**
 * Changes threads in a transaction of its own. `signals` tells open sessions after it. Default: they are not told, because the
 * call tells them all at its end.
 */
export async function changeInStep<T>(
  { caller, now, services }: StepCall,
  change: (context: ThreadContext) => Promise<T>,
  signals?: Pick<ApiKeySignals, 'store' | 'publish'>,
): Promise<T> {
  let later: (() => void)[] = []
  let messages: Signal[] = []
  const result = await services.writeStep(async (db) => {
    later = []
    messages = []
    const afterCommit = (work: () => void) => void later.push(work)
    const signal = (message: Signal) => void messages.push(message)
    const changed = await change({ caller, db, now, services, signal, afterCommit })
    await signals?.store(db, messages)
    return changed
  }, caller.apiKey)
  for (const work of later) work()
  signals?.publish(messages)
  return result
}
