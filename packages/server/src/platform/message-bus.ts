/** Delivers messages to subscribers. */
export interface MessageBus<Message> {
  publish(message: Message): void
  /** Returns a function that unsubscribes. */
  subscribe(listener: (message: Message) => void): () => void
}

/**
 * Creates a bus within one process. When `publish` returns, every listener has run. If one throws, the others still get the
 * message.
 */
export function createMessageBus<Message>(
  onListenerError: (error: unknown, message: Message) => void,
): MessageBus<Message> {
  const listeners = new Set<(message: Message) => void>()
  return {
    publish(message) {
      for (const listener of listeners) {
        try {
          listener(message)
        } catch (error) {
          onListenerError(error, message)
        }
      }
    },
    subscribe(listener) {
      // Each subscription gets a function of its own, because the same listener may subscribe twice.
      const own = (message: Message) => listener(message)
      listeners.add(own)
      return () => void listeners.delete(own)
    },
  }
}
