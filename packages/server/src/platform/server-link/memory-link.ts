import type { ServerLink, ServerLinkListener } from './server-link.ts'

/** Connects servers within one process. Each call of the returned function creates the link of one server. */
export function createMemoryLinks({ carriesData = true } = {}): () => ServerLink {
  const connected = new Map<ServerLink, ServerLinkListener>()
  return () => {
    const link: ServerLink = {
      name: 'memory',
      carriesData,
      delayMs: 0,
      get isConnected() {
        return connected.has(link)
      },
      start(listener) {
        connected.set(link, listener)
        queueMicrotask(() => listener.onConnected())
      },
      send(message) {
        if (!connected.has(link)) return
        const copy = Uint8Array.from(message)
        for (const other of connected.keys()) {
          if (other !== link) setImmediate(() => connected.get(other)?.onMessage(copy))
        }
      },
      async stop() {
        connected.delete(link)
      },
    }
    return link
  }
}
