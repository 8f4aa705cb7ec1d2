import { afterAll, beforeAll, expect, onTestFinished, vi } from 'vitest'
import type { ServerLink, ServerLinkListener } from '../../../src/platform/server-link/server-link.ts'
import { type ServerOptions, startServer, type TestServer } from '../harness.ts'
import { type LinkKind, linkOptions } from './links.ts'
import { metric } from '../measures/metrics-page.ts'

/** Starts two servers on one PostgreSQL database, and waits until they know of each other. */
async function startBoth(
  kind: LinkKind,
  options: ServerOptions,
  onStarted: (server: TestServer) => void,
): Promise<void> {
  const optionsOfEach = await linkOptions(kind)
  const start = async (more: ServerOptions = {}) => {
    const { link, env } = optionsOfEach()
    const server = await startServer('postgres', {
      ...options,
      ...more,
      link,
      env: { ...env, ...options.env },
      isAlone: true,
    })
    onStarted(server)
    return server
  }
  const first = await start()
  const second = await start({ data: first.data })
  if (kind === 'no link') return
  for (const server of [first, second])
    await vi.waitFor(async () => expect(await metric(server, 'plenum_peers')).toBe(1), 10_000)
}

/** Two servers for one test. */
export async function startTwoServers(
  kind: LinkKind,
  options: ServerOptions = {},
): Promise<[TestServer, TestServer]> {
  const servers: TestServer[] = []
  await startBoth(kind, options, (server) => {
    servers.push(server)
    onTestFinished(() => server.stop())
  })
  return servers as [TestServer, TestServer]
}

/** Two servers for all tests of a `describe`. */
export function useTwoServers(kind: LinkKind, options: ServerOptions = {}): [TestServer, TestServer] {
  const servers = [{}, {}] as [TestServer, TestServer]
  beforeAll(async () => {
    let count = 0
    await startBoth(kind, options, (server) => void Object.assign(servers[count++] as TestServer, server))
  })
  afterAll(async () => {
    for (const server of servers) await server.stop?.()
  })
  return servers
}

/** A link that a test can cut. */
export function cuttableLink(link: ServerLink) {
  let isCut = false
  let losesMessages = false
  let listener: ServerLinkListener | undefined
  return {
    link: {
      name: link.name,
      carriesData: link.carriesData,
      get delayMs() {
        return link.delayMs
      },
      get droppedMessages() {
        return link.droppedMessages
      },
      get isConnected() {
        return !isCut && link.isConnected
      },
      start(ownId, on) {
        listener = on
        const onMessage: ServerLinkListener['onMessage'] = (message, from) => {
          if (!isCut && !losesMessages) on.onMessage(message, from)
        }
        link.start(ownId, { ...on, onMessage })
      },
      send: (message, to) => !isCut && link.send(message, to),
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
    /** From now on no message arrives, although the link stays connected. */
    loseMessages() {
      losesMessages = true
    },
  }
}
