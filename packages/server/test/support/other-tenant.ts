import { expectFreeLoop, heldDuring, TooSlow } from './event-loop.ts'
import * as given from './given.ts'
import type { TestServer } from './harness.ts'

/**
 * Another tenant writes without pause until the returned function is called. It gives how often the tenant could write,
 * and how long the slowest write took, as a part of the whole time.
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

/** Runs work that must hold neither the event loop (S2) nor the writes of others (S1). */
export async function runInShortSteps(
  server: TestServer,
  work: () => Promise<unknown>,
  leastWrites = 3,
): Promise<void> {
  const stop = await writesOfOther(server)
  const held = await heldDuring(work)
  const { writes, slowest } = await stop()
  // In one transaction the slowest would take almost all of the time.
  if (writes < leastWrites || slowest >= 0.5) {
    const percent = Math.round(100 * slowest)
    throw new TooSlow(`another tenant wrote ${writes} times; the slowest write took ${percent} % of the time`)
  }
  expectFreeLoop(held)
}
