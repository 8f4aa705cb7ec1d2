import { afterAll, beforeAll } from 'vitest'
import { createMemoryLinks } from '../../src/platform/server-link/memory-link.ts'
import type { ServerLink, ServerLinkListener } from '../../src/platform/server-link/server-link.ts'
import { type ServerOptions, startServer, type TestServer } from './harness.ts'

/** The links with which tests connect servers. */
export const links = ['memory', 'PostgreSQL'] as const

/** Two servers on one PostgreSQL database, for all tests of a `describe`. */
export function useTwoServers(
  link: (typeof links)[number],
  options: ServerOptions = {},
): readonly [TestServer, TestServer] {
  const servers = [{} as TestServer, {} as TestServer] as const
  const createLink = createMemoryLinks()
  beforeAll(async () => {
    const own = () => (link === 'memory' ? { link: createLink() } : {})
    Object.assign(servers[0], await startServer('postgres', { ...own(), ...options }))
    const { data } = servers[0]
    Object.assign(servers[1], await startServer('postgres', { ...own(), ...options, data }))
  })
  afterAll(() => Promise.all(servers.map((server) => server.stop?.())))
  return servers
}

/** A link that a test can cut. */
export function cuttableLink(link: ServerLink) {
  let isCut = false
  let listener: ServerLinkListener | undefined
  return {
    link: {
      name: link.name,
      carriesData: link.carriesData,
      get delayMs() {
        return link.delayMs
      },
      get isConnected() {
        return !isCut && link.isConnected
      },
      start(on) {
        listener = on
        link.start({ ...on, onMessage: (message) => !isCut && on.onMessage(message) })
      },
      send: (message) => !isCut && link.send(message),
      stop: () => link.stop(),
    } satisfies ServerLink as ServerLink,
    cut() {
      isCut = true
      listener?.onDisconnected('The test has cut it.')
    },
    restore() {
      isCut = false
      listener?.onConnected()
    },
  }
}
