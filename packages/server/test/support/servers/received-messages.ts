import { createDecoder, hasContent, readUint8Array, readVarUint8Array } from 'lib0/decoding'
import { afterAll, beforeAll, vi } from 'vitest'
import { type Topic, topics } from '../../../src/peers/peers.ts'
import { ReconnectingLink } from '../../../src/platform/server-link/reconnecting-link.ts'
import type { ServerLink } from '../../../src/platform/server-link/server-link.ts'

const topicNames = Object.keys(topics) as Topic[]

let onReceived: ((message: Uint8Array) => void) | undefined

/** Starts the link so that `useReceivedMessages` counts what arrives over it. */
function startObserved(
  ...[link, start, ownId, on]: [ServerLink, ServerLink['start'], ...Parameters<ServerLink['start']>]
) {
  start.call(link, ownId, {
    onConnected: () => on.onConnected(),
    onDisconnected: (reason) => on.onDisconnected(reason),
    onUnreachable: (reason) => on.onUnreachable(reason),
    onMessage(message, from) {
      onReceived?.(message)
      on.onMessage(message, from)
    },
  })
}

export function observed(link: ServerLink): ServerLink {
  const { start } = link
  link.start = (ownId, on) => startObserved(link, start, ownId, on)
  return link
}

/**
 * Counts the messages that servers of the `describe` receive from each other. Call it before the servers are started. Returns
 * how many messages had something about a topic: the metrics also count messages that depend on time, such as signs of life.
 */
export function useReceivedMessages(): (topic: Topic) => number {
  const counts = new Map<Topic, number>()
  const { start } = ReconnectingLink.prototype
  beforeAll(() => {
    onReceived = (message) => {
      for (const topic of topicsIn(message)) counts.set(topic, (counts.get(topic) ?? 0) + 1)
    }
    vi.spyOn(ReconnectingLink.prototype, 'start').mockImplementation(function startLink(
      this: ReconnectingLink,
      ...args
    ) {
      startObserved(this, start, ...args)
    })
  })
  afterAll(() => {
    onReceived = undefined
    vi.mocked(ReconnectingLink.prototype.start).mockRestore()
  })
  return (topic) => counts.get(topic) ?? 0
}

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
