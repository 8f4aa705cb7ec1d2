import type { Signal } from '../bus.ts'
import type { Database } from '../store/engine/db.ts'
import type { ThreadContext, ThreadServices } from './thread-changes.ts'

type StepCall = Pick<ThreadContext, 'caller' | 'now'> & {
  services: ThreadServices & { writeStep: Database['write'] }
}

/**
 * Changes threads in a transaction of its own. `signal` tells open sessions after it. Default: they are not told, because the
 * call tells them all at its end.
 */
export async function changeInStep<T>(
  { caller, now, services }: StepCall,
  change: (context: ThreadContext) => Promise<T>,
  signal: (message: Signal) => void = () => {},
): Promise<T> {
  let later: (() => void)[] = []
  const result = await services.writeStep((db) => {
    later = []
    const afterCommit = (work: () => void) => void later.push(work)
    const signalLater = (message: Signal) => afterCommit(() => signal(message))
    return change({ caller, db, now, services, signal: signalLater, afterCommit })
  }, caller.apiKey)
  for (const work of later) work()
  return result
}
