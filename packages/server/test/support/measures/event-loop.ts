import { setImmediate as nextIteration } from 'node:timers/promises'
import { isLoopLate, maxIterationMs, usualIterationMs } from '../../../src/platform/turns/loop-time.ts'

/**
 * Resolves at the start of an iteration of the event loop in which work need not wait. The iteration after long work is
 * late, and iterations after a client of another test has connected to a server of this process are short.
 */
export async function freeIteration(): Promise<void> {
  do await nextIteration()
  while (isLoopLate() || maxIterationMs() < usualIterationMs)
}
