import { expect, onTestFinished } from 'vitest'
import { type ServerOptions, startServer, type TestServer } from './harness.ts'
import { metric } from './metrics-page.ts'
import { redisForTests } from './redis.ts'

/** The services through which servers send each other messages. */
export const links = ['PostgreSQL', 'Redis'] as const
export type Link = (typeof links)[number]

/** Starts two servers on one PostgreSQL database, and waits until they know of each other. */
export async function startTwoServers(
  link: Link,
  { env = {}, ...options }: ServerOptions = {},
): Promise<[TestServer, TestServer]> {
  const settings = { ...env, ...(link === 'Redis' && { REDIS_URL: (await redisForTests()).url }) }
  const first = await startServer('postgres', { ...options, env: settings })
  onTestFinished(() => first.stop())
  const second = await startServer('postgres', { ...options, env: settings, data: first.data })
  onTestFinished(() => second.stop())
  for (const server of [first, second]) await expect.poll(() => metric(server, 'plenum_peers')).toBe(1)
  return [first, second]
}
