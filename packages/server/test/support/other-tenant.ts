import { expectFreeLoop, longestLoopBlockDuring, TooSlow } from './event-loop.ts'
import * as given from './given.ts'
import type { TestServer } from './harness.ts'

/**
 * Another tenant writes without pause until the returned function is called. That function returns the number of writes,
 * and the duration of the slowest one as a fraction of the whole time.
 */
export async function writesOfOther(
  server: TestServer,
): Promise<() => Promise<{ writes: number; slowest: number }>> {
  const other = await given.tenant(server)
  await given.organization(other, 'o')
  let isRunning = true
  let writes = 0
  let slowestMs = 0
  const beganAt = performance.now()
  const done = (async () => {
    for (; isRunning; writes++) {
      const at = performance.now()
      await other.client.organizations.update({ organizations: [{ organizationId: 'o', writes }] })
      slowestMs = Math.max(slowestMs, performance.now() - at)
    }
  })()
  return async () => {
    isRunning = false
    await done
    return { writes, slowest: slowestMs / (performance.now() - beganAt) }
  }
}

/** Runs work that must block neither the event loop (S2) nor the writes of other tenants (S1). */
export async function runInShortSteps(
  server: TestServer,
  work: () => Promise<unknown>,
  minWrites = 3,
): Promise<void> {
  const stop = await writesOfOther(server)
  const blockedMs = await longestLoopBlockDuring(work)
  const { writes, slowest } = await stop()
  // If the work were one transaction, the slowest write would take almost the whole time.
  if (writes < minWrites || slowest >= 0.5) {
    const percent = Math.round(100 * slowest)
    throw new TooSlow(`another tenant wrote ${writes} times; the slowest write took ${percent} % of the time`)
  }
  expectFreeLoop(blockedMs)
}
