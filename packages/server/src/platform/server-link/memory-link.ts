import type { ServerLink, ServerLinkListener } from './server-link.ts'

/** Connects servers within one process. Each call of the returned function creates the link of one server. */
export function createMemoryLinks({ carriesData = true } = {}): () => ServerLink {
  /** By the ids of the servers. */
  const connected = new Map<string, ServerLinkListener>()
  return () => {
    let ownId = ''
    let dropped = 0
    const link: ServerLink = {
      name: 'memory',
      carriesData,
      delayMs: 0,
      get droppedMessages() {
        return dropped
      },
      get isConnected() {
        return connected.has(ownId)
      },
      start(id, listener) {
        ownId = id
        connected.set(ownId, listener)
        queueMicrotask(() => listener.onConnected())
      },
      send(message, to = Array.from(connected.keys())) {
        if (!connected.has(ownId)) return void dropped++
        const copy = Uint8Array.from(message)
        for (const id of to) {
          if (id !== ownId) setImmediate(() => connected.get(id)?.onMessage(copy, ownId))
        }
      },
      async stop() {
        connected.delete(ownId)
      },
    }
    return link
  }
}
