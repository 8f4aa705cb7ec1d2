import { existsSync, readFileSync } from 'node:fs'

/** Returns the processor time of the run in milliseconds, which does not include the work of other processes. */
export function processorMs(run: () => unknown): number {
  const before = process.cpuUsage()
  run()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1_000
}

/** Returns how many milliseconds the main thread of a process has waited for a processor; 0 if the kernel does not report it. */
export function waitedMs(pid: number | 'self' = 'self'): number {
  const file = `/proc/${pid}/schedstat`
  return existsSync(file) ? Number(readFileSync(file, 'latin1').split(' ')[1]) / 1e6 : 0
}

/** Like `performance.now()`, without the time for which the main thread had to wait for a processor. */
export const undisturbedNow = (): number => performance.now() - waitedMs()
