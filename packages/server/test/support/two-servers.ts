import { afterAll, beforeAll } from 'vitest'
import { type ServerOptions, startServer, type TestServer } from './harness.ts'
import { type LinkKind, linkOptions } from './links.ts'

/** Two servers on one PostgreSQL database, for all tests of a `describe`. */
export function useTwoServers(kind: LinkKind, options: ServerOptions = {}): [TestServer, TestServer] {
  const servers = [{}, {}] as [TestServer, TestServer]
  beforeAll(async () => {
    const optionsOfEach = await linkOptions(kind)
    const start = (more: ServerOptions = {}) =>
      startServer('postgres', { ...options, ...optionsOfEach(), ...more, isAlone: true })
    Object.assign(servers[0], await start())
    Object.assign(servers[1], await start({ data: servers[0].data }))
  })
  afterAll(async () => {
    for (const server of servers) await server.stop?.()
  })
  return servers
}
