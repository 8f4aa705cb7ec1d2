import { readFileSync } from 'node:fs'

/** Milliseconds of the processor that it takes, however busy the machine is with something else. */
export function processorMs(run: () => unknown): number {
  const before = process.cpuUsage()
  run()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1_000
}

/** Like `performance.now()`, without the time for which this thread had to wait for a processor, where the kernel tells. */
export function undisturbedNow(): number {
  if (process.platform !== 'linux') return performance.now()
  const [, waited] = readFileSync('/proc/self/schedstat', 'latin1').split(' ')
  return performance.now() - Number(waited) / 1e6
}
