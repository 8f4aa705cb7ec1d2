import * as Y from 'yjs'
import type { Client } from './client.ts'

/** Milliseconds since an update was sent. */
export interface Latencies {
  /** Until the sender received the acknowledgement. */
  saved: number[]
  /** Until another client received the update. */
  delivered: number[]
}

export interface Sender {
  client: Client
  /** The Yjs client id of the updates. */
  clientId: number
  /** When update n was sent. */
  sentAt: number[]
}

/** Records when the watchers receive the updates of the senders. All of them have the same document open. */
export function watch(senders: Sender[], watchers: Sender[], acknowledged: boolean, into: Latencies): void {
  const byId = new Map(senders.map((sender) => [sender.clientId, sender]))
  for (const watcher of watchers) {
    /** How many updates of each sender have arrived. */
    const seen = new Map<number, number>()
    watcher.client.onUpdate = (update, now) => {
      // One frame may contain updates of several senders, and several updates of one sender.
      for (const [clientId, clock] of Y.parseUpdateMeta(update).to) {
        const sender = byId.get(clientId)
        if (!sender || (sender === watcher && acknowledged)) continue
        const list = sender === watcher ? into.saved : into.delivered
        for (let n = seen.get(clientId) ?? 0; n < clock; n++) list.push(now - (sender.sentAt[n] ?? now))
        seen.set(clientId, clock)
      }
    }
    let savedCount = 0
    watcher.client.onSaved = (now) => {
      const sentAt = watcher.sentAt[savedCount]
      // The first acknowledgement is for the state that the client sent when it opened the document.
      if (sentAt === undefined) return
      into.saved.push(now - sentAt)
      savedCount++
    }
  }
}
