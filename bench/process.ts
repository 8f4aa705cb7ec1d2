import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import {
  type ServerProcess,
  startServerProcess,
} from '../packages/server/test/support/processes/server-process.ts'

/** Starts a server whose CPU time and memory are measured. */
export const startMeasuredServer = (
  script: string,
  env: Record<string, string>,
  execArgv: readonly string[] = [],
): Promise<ServerProcess> =>
  startServerProcess({
    program: fileURLToPath(new URL(script, import.meta.url)),
    env: {
      ...process.env,
      LOG_LEVEL: 'warn',
      // Unlimited: a few users open thousands of documents.
      LIMIT_CREATED_BY_OPENING_PER_MINUTE: '0',
      // Counted, and never reached.
      LIMIT_USER_REQUESTS_PER_MINUTE: '10000000',
      ...env,
    },
    execArgv,
  })

export const residentKilobytesOf = (pid: number): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1])

/** Sums the nanoseconds of all threads of a process, which are finer than the ticks of /proc/PID/stat. */
export function cpuMicrosecondsOf(pid: number): number {
  const tasks = `/proc/${pid}/task`
  const nanoseconds = readdirSync(tasks).map((task) =>
    Number(readFileSync(`${tasks}/${task}/schedstat`, 'utf8').split(' ')[0]),
  )
  return nanoseconds.reduce((sum, one) => sum + one, 0) / 1000
}
