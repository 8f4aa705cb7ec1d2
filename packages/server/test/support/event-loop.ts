import { readFileSync } from 'node:fs'
import { type PerformanceEntry, PerformanceObserver } from 'node:perf_hooks'
import { setImmediate as nextIteration, setTimeout as pause } from 'node:timers/promises'
import { isLoopLate, maxIterationMs, usualIterationMs } from '../../src/platform/turns/loop-time.ts'

/** How long this thread has worked, in milliseconds. Where the kernel tells, what others on the machine do is no part of it. */
function workedMs(): number {
  if (process.platform !== 'linux') return performance.now()
  return Number(readFileSync('/proc/self/schedstat', 'latin1').split(' ', 1)[0]) / 1e6
}

/** One look at the event loop: when it was, and what the thread had worked since the one before. */
interface Look {
  at: number
  worked: number
}

/**
 * For how long at most, in milliseconds, the event loop of this process was held while it ran. Garbage collections do not
 * count: most of what they walk over belongs to other tests in this process. `npm run attack` counts them.
 */
export async function heldDuring(run: () => Promise<unknown>): Promise<number> {
  const found: PerformanceEntry[] = []
  const collections = new PerformanceObserver((list) => found.push(...list.getEntries()))
  collections.observe({ entryTypes: ['gc'] })
  const looks: Look[] = []
  let last = workedMs()
  const look = () => {
    const worked = workedMs()
    looks.push({ at: performance.now(), worked: worked - last })
    last = worked
  }
  look()
  const timer = setInterval(look, 1)
  await run()
  look()
  clearInterval(timer)
  // They are told a moment later.
  await pause(1)
  found.push(...collections.takeRecords())
  collections.disconnect()
  let longest = 0
  for (const [index, { at, worked }] of looks.entries()) {
    const before = looks[index - 1]?.at ?? at
    const collected = found.filter(({ startTime }) => startTime >= before && startTime < at)
    const collectedMs = collected.reduce((sum, { duration }) => sum + duration, 0)
    longest = Math.max(longest, worked - collectedMs)
  }
  return longest
}

/**
 * The beginning of an iteration of the event loop in which work need not wait. The one after long work is none, and those
 * after a client of another test has connected to a server of this process are short.
 */
export async function freeIteration(): Promise<void> {
  do await nextIteration()
  while (isLoopLate() || maxIterationMs() < usualIterationMs)
}

/** The least of several attempts: what runs for the first time is slow. */
export async function leastHeld(
  run: () => Promise<unknown>,
  before: () => Promise<unknown> = async () => {},
): Promise<number> {
  let least = Infinity
  for (let attempt = 0; attempt < 3 && least >= 25; attempt++) {
    await before()
    least = Math.min(least, await heldDuring(run))
  }
  return least
}

/** A text that a quiet machine reads and writes in about a millisecond. */
const sample = JSON.stringify(
  Array.from({ length: 2000 }, (_, i) => ({ id: `d${i}`, name: 'x'.repeat(20), i })),
)

/** How many times as long as on a quiet machine work takes now: at least 1, at most 3. */
function slowness(): number {
  const rounds = 40
  const before = workedMs()
  for (let round = 0; round < rounds; round++) JSON.stringify(JSON.parse(sample))
  return Math.min(3, Math.max(1, (workedMs() - before) / rounds))
}

/** Others may have taken the processor just then: the test is tried again, as `vitest.config.ts` says. */
export class TooSlow extends Error {
  constructor(what: string) {
    super(`Too slow: ${what}`)
  }
}

/** A second is promised. */
export function expectWithinSecond(tookMs: number): void {
  if (tookMs >= 1_000) throw new TooSlow(`it took ${tookMs.toFixed(0)} ms, allowed are 1000`)
}

/** Fails if the event loop was held for longer than S2 promises. A machine that is slow now has more time. */
export function expectFreeLoop(heldMs: number, { promisedMs = 50, during = {} } = {}): void {
  const allowedMs = heldMs < promisedMs ? promisedMs : promisedMs * slowness()
  if (heldMs < allowedMs) return
  const [held, allowed] = [heldMs, allowedMs].map((ms) => ms.toFixed(1))
  throw new TooSlow(
    `the event loop was held for ${held} ms, allowed are ${allowed} ${JSON.stringify(during)}`,
  )
}
