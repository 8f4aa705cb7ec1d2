// A thread that sleeps for `restMs` and then works for `workMs`. A message has both numbers.
import { readFileSync } from 'node:fs'
import { answerTasks } from '../../../src/platform/threads/worker.ts'

/** How many milliseconds this thread has worked. On a busy machine that is much less than the time that passes. */
const workedMs = () => Number(readFileSync('/proc/thread-self/schedstat', 'latin1').split(' ', 1)[0]) / 1e6

answerTasks(({ restMs = 0, workMs = 0 }: { restMs?: number; workMs?: number }) => {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, restMs)
  for (const end = workedMs() + workMs; workedMs() < end;);
})
