import { createDecoder, hasContent, readUint8Array, readVarUint8Array } from 'lib0/decoding'
import { type Topic, topics } from '../../../src/peers/peers.ts'
import { createMemoryLinks } from '../../../src/platform/server-link/memory-link.ts'
import { ReconnectingLink } from '../../../src/platform/server-link/reconnecting-link.ts'
import type { ServerLink } from '../../../src/platform/server-link/server-link.ts'
import { redisForTests } from '../services/redis.ts'

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
  return () => {
    const link = createLink()
    countMessagesOf(link)
    return { link }
  }
}

const topicNames = Object.keys(topics) as Topic[]
const received = Object.fromEntries(topicNames.map((topic) => [topic, 0])) as Record<Topic, number>

/**
 * Returns how many messages with something about the topic the servers of this process have received from each other. The
 * metrics also count messages that depend on time, such as signs of life.
 */
export const receivedAbout = (topic: Topic): number => received[topic]

/** Counts the messages that arrive over this link, or over all links with this prototype. */
function countMessagesOf(link: Pick<ServerLink, 'start'>): void {
  const { start } = link
  link.start = function startCounted(this: ServerLink, ownId, listener) {
    start.call(this, ownId, {
      onConnected: () => listener.onConnected(),
      onDisconnected: (reason) => listener.onDisconnected(reason),
      onUnreachable: (reason) => listener.onUnreachable(reason),
      onMessage(message, from) {
        for (const topic of topicsIn(message)) received[topic]++
        listener.onMessage(message, from)
      },
    })
  }
}
countMessagesOf(ReconnectingLink.prototype)

/** A message is its format, and after it for each entry a topic, an address of 8 bytes and a body. */
function topicsIn(message: Uint8Array): Set<Topic> {
  const decoder = createDecoder(message)
  const found = new Set<Topic>()
  for (readUint8Array(decoder, 1); hasContent(decoder); readVarUint8Array(decoder)) {
    const [number] = readUint8Array(decoder, 1 + 8)
    found.add(topicNames.find((name) => topics[name] === number) as Topic)
  }
  return found
}
