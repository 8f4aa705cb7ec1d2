import { createMemoryLinks } from '../../../src/platform/server-link/memory-link.ts'
import type { ServerLink } from '../../../src/platform/server-link/server-link.ts'
import { redisForTests } from '../services/redis.ts'
import { observed } from './received-messages.ts'

/** How the servers of a test reach each other. */
export const linksThatConnect = ['memory', 'PostgreSQL', 'Redis'] as const
export const linkKinds = ['no link', ...linksThatConnect] as const
export type LinkKind = (typeof linkKinds)[number]

/** A link over which no message ever passes. */
export const deadLink = (): ServerLink => ({
  name: 'none',
  carriesData: false,
  isConnected: false,
  delayMs: undefined,
  droppedMessages: 0,
  start() {},
  send() {},
  async stop() {},
})

/** Returns a function that creates the options of each server, so that the servers reach each other in this way. */
export async function linkOptions(
  kind: LinkKind,
): Promise<() => { link?: ServerLink | undefined; env?: Record<string, string> }> {
  if (kind === 'Redis') {
    const { url } = await redisForTests()
    return () => ({ env: { REDIS_URL: url } })
  }
  // The default with PostgreSQL.
  if (kind === 'PostgreSQL') return () => ({})
  const createLink = kind === 'memory' ? createMemoryLinks() : deadLink
  return () => ({ link: observed(createLink()) })
}
