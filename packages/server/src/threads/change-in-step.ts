import type { Database } from '../store/engine/db.ts'
import type { ThreadContext, ThreadServices } from './thread-changes.ts'

type StepCall = Pick<ThreadContext, 'caller' | 'now'> & {
  services: ThreadServices & { writeStep: Database['write'] }
}

/** Changes threads in a transaction of its own. Open sessions are not told: the call tells them all at its end. */
export async function changeInStep<T>(
  { caller, now, services }: StepCall,
  change: (context: ThreadContext) => Promise<T>,
): Promise<T> {
  let later: (() => void)[] = []
  const result = await services.writeStep((db) => {
    later = []
    const afterCommit = (work: () => void) => void later.push(work)
    return change({ caller, db, now, services, signal: () => {}, afterCommit })
  }, caller.apiKey)
  for (const work of later) work()
  return result
}
