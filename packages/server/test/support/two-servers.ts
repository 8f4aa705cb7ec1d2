import { afterAll, beforeAll } from 'vitest'
import { createMemoryLinks } from '../../src/platform/server-link/memory-link.ts'
import type { ServerLink } from '../../src/platform/server-link/server-link.ts'
import { type ServerOptions, startServer, type TestServer } from './harness.ts'

/** How the servers of a test reach each other. */
export const linkKinds = ['no link', 'memory', 'PostgreSQL'] as const
export type LinkKind = (typeof linkKinds)[number]

/** A link over which no message ever passes. */
export const deadLink = (): ServerLink => ({
  name: 'none',
  carriesData: false,
  isConnected: false,
  delayMs: undefined,
  start() {},
  send() {},
  async stop() {},
})

/** Creates the link of each server. Undefined: the one that the settings ask for. */
export function linksOf(kind: LinkKind): () => ServerLink | undefined {
  if (kind === 'memory') return createMemoryLinks()
  return () => (kind === 'no link' ? deadLink() : undefined)
}

/** Two servers on one PostgreSQL database, for all tests of a `describe`. */
export function useTwoServers(kind: LinkKind, options: ServerOptions = {}): [TestServer, TestServer] {
  const servers = [{}, {}] as [TestServer, TestServer]
  beforeAll(async () => {
    const createLink = linksOf(kind)
    Object.assign(servers[0], await startServer('postgres', { ...options, link: createLink() }))
    const { data } = servers[0]
    Object.assign(servers[1], await startServer('postgres', { ...options, data, link: createLink() }))
  })
  afterAll(async () => {
    for (const server of servers) await server.stop?.()
  })
  return servers
}
