import { existsSync, readFileSync } from 'node:fs'

/** Milliseconds of the processor that it takes, however busy the machine is with something else. */
export function processorMs(run: () => unknown): number {
  const before = process.cpuUsage()
  run()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1_000
}

/** For how long the main thread of a process has waited for a processor, where the kernel tells. */
export function waitedMs(pid: number | 'self' = 'self'): number {
  const file = `/proc/${pid}/schedstat`
  return existsSync(file) ? Number(readFileSync(file, 'latin1').split(' ')[1]) / 1e6 : 0
}

/** Like `performance.now()`, without the time for which the main thread had to wait for a processor. */
export const undisturbedNow = (): number => performance.now() - waitedMs()
