// A thread that sleeps for `restMs` and then works for `workMs`. A message has both numbers.
import { answerTasks } from '../../src/platform/threads/worker.ts'

answerTasks(({ restMs = 0, workMs = 0 }: { restMs?: number; workMs?: number }) => {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, restMs)
  for (const end = process.cpuUsage().user + workMs * 1000; process.cpuUsage().user < end;);
})
