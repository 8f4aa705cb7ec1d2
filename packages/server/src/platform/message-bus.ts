/** Delivers messages to subscribers. */
export interface MessageBus<Message> {
  publish(message: Message): void
  /** Returns a function that unsubscribes. */
  subscribe(listener: (message: Message) => void): () => void
}

/**
 * A bus within one process: when `publish` returns, every listener has run. A listener that throws does not keep the
 * message from the others.
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
      // A function of its own for each subscription: the same listener may subscribe twice.
      const own = (message: Message) => listener(message)
      listeners.add(own)
      return () => void listeners.delete(own)
    },
  }
}
