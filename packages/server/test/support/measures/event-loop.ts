import { readFileSync } from 'node:fs'
import { type PerformanceEntry, PerformanceObserver } from 'node:perf_hooks'
import { setImmediate as nextIteration, setTimeout as pause } from 'node:timers/promises'
import { isLoopLate, maxIterationMs, usualIterationMs } from '../../../src/platform/turns/loop-time.ts'

/** Returns how many milliseconds this thread has worked. On Linux it does not include work of other processes. */
function workedMs(): number {
  if (process.platform !== 'linux') return performance.now()
  return Number(readFileSync('/proc/self/schedstat', 'latin1').split(' ', 1)[0]) / 1e6
}

/**
 * Returns for how many milliseconds the host of this virtual machine has given its processors to others. A thread that had
 * a processor meanwhile counts that time as work.
 */
function stolenMs(): number {
  if (process.platform !== 'linux') return 0
  return 10 * Number(readFileSync('/proc/stat', 'latin1').split('\n', 1)[0]!.split(/ +/)[8] ?? 0)
}

/** A sample of the event loop: its time, and how long the thread has worked since the previous sample. */
interface Sample {
  at: number
  worked: number
}

/** How often the stolen time is read, in milliseconds: reading it takes long, and the kernel counts it in steps of 10. */
const stolenEveryMs = 10

/**
 * Returns the longest time, in milliseconds, for which the event loop of this process was blocked during the run. Garbage
 * collections are excluded: most of the objects they visit belong to other tests in this process. `npm run attack`
 * includes them.
 */
export async function longestLoopBlockDuring(run: () => Promise<unknown>): Promise<number> {
  const found: PerformanceEntry[] = []
  const collections = new PerformanceObserver((list) => found.push(...list.getEntries()))
  collections.observe({ entryTypes: ['gc'] })
  const samples: Sample[] = []
  let last = workedMs()
  let stolen = { at: performance.now(), ms: stolenMs() }
  const sample = () => {
    const [at, worked] = [performance.now(), workedMs()]
    let stolenNow = 0
    if (at - stolen.at >= stolenEveryMs) {
      const ms = stolenMs()
      stolenNow = ms - stolen.ms
      stolen = { at, ms }
    }
    samples.push({ at, worked: worked - last - stolenNow })
    last = worked
  }
  sample()
  const timer = setInterval(sample, 1)
  await run()
  sample()
  clearInterval(timer)
  // Garbage collections are reported a moment later.
  await pause(1)
  found.push(...collections.takeRecords())
  collections.disconnect()
  let longest = 0
  for (const [index, { at, worked }] of samples.entries()) {
    const before = samples[index - 1]?.at ?? at
    const collected = found.filter(({ startTime }) => startTime >= before && startTime < at)
    const collectedMs = collected.reduce((sum, { duration }) => sum + duration, 0)
    longest = Math.max(longest, worked - collectedMs)
  }
  return longest
}

/**
 * Resolves at the start of an iteration of the event loop in which work need not wait. The iteration after long work is
 * late, and iterations after a client of another test has connected to a server of this process are short.
 */
export async function freeIteration(): Promise<void> {
  do await nextIteration()
  while (isLoopLate() || maxIterationMs() < usualIterationMs)
}

/** A text that an idle machine parses and serializes in about a millisecond. */
const referenceJson = JSON.stringify(
  Array.from({ length: 2000 }, (_, i) => ({ id: `d${i}`, name: 'x'.repeat(20), i })),
)

/**
 * Returns how many times slower than idle the machine is now: from 1 to 20. A virtual machine is that slow while its host
 * gives the processor to others, and counts that time as work.
 */
function slowness(): number {
  const rounds = 40
  const before = workedMs()
  for (let round = 0; round < rounds; round++) JSON.stringify(JSON.parse(referenceJson))
  return Math.min(20, Math.max(1, (workedMs() - before) / rounds))
}

/** Whether the event loop was blocked for no longer than promised. The limit grows if the machine is slow now. */
const isFree = (blockedMs: number, promisedMs: number) =>
  blockedMs < promisedMs || blockedMs < promisedMs * slowness()

/**
 * Measures up to three times, until the loop stays free as `expectFreeLoop` demands: code that runs for the first time is
 * slow. Returns the shortest block.
 */
export async function shortestLoopBlock(
  run: () => Promise<unknown>,
  { before, promisedMs = 50 }: { before?: () => Promise<unknown>; promisedMs?: number } = {},
): Promise<number> {
  let shortestMs = Infinity
  for (let attempt = 0; attempt < 3 && !isFree(shortestMs, promisedMs); attempt++) {
    await before?.()
    shortestMs = Math.min(shortestMs, await longestLoopBlockDuring(run))
  }
  return shortestMs
}

/** Thrown when a time limit is exceeded. Other processes may be the cause, so `vitest.config.ts` retries the test. */
export class TooSlow extends Error {
  constructor(what: string) {
    super(`Too slow: ${what}`)
  }
}

/** Fails if the work took as long as the limit, or longer. */
export function expectWithin(limitMs: number, tookMs: number): void {
  if (tookMs >= limitMs) throw new TooSlow(`it took ${tookMs.toFixed(0)} ms, allowed are ${limitMs}`)
}

/** Fails if the event loop was blocked for longer than S2 promises. The limit grows if the machine is slow now. */
export function expectFreeLoop(blockedMs: number, { promisedMs = 50, during = {} } = {}): void {
  const allowedMs = blockedMs < promisedMs ? promisedMs : promisedMs * slowness()
  if (blockedMs < allowedMs) return
  const [blocked, allowed] = [blockedMs, allowedMs].map((ms) => ms.toFixed(1))
  throw new TooSlow(
    `the event loop was blocked for ${blocked} ms, allowed are ${allowed} ${JSON.stringify(during)}`,
  )
}
