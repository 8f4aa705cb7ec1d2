import * as Y from 'yjs'
import type { Client } from './client.ts'

/** Milliseconds since an update was sent. */
export interface Latencies {
  /** Until the sender received the acknowledgement. */
  saved: number[]
  /** Until another client received it. */
  delivered: number[]
}

export interface Sender {
  client: Client
  clientId: number
  /** When update n was sent. */
  sentAt: number[]
}

/** Records when the watchers receive the updates of the senders. All are in one document. */
export function watch(senders: Sender[], watchers: Sender[], acknowledged: boolean, into: Latencies): void {
  const byId = new Map(senders.map((sender) => [sender.clientId, sender]))
  for (const watcher of watchers) {
    /** How many updates of each sender have arrived. */
    const seen = new Map<number, number>()
    watcher.client.onUpdate = (update, now) => {
      // One frame may hold updates of several senders, and several of one.
      for (const [clientId, clock] of Y.parseUpdateMeta(update).to) {
        const sender = byId.get(clientId)
        if (!sender || (sender === watcher && acknowledged)) continue
        const list = sender === watcher ? into.saved : into.delivered
        for (let n = seen.get(clientId) ?? 0; n < clock; n++) list.push(now - (sender.sentAt[n] ?? now))
        seen.set(clientId, clock)
      }
    }
    let saved = 0
    watcher.client.onSaved = (now) => {
      const sentAt = watcher.sentAt[saved]
      // The first acknowledgement is for the state that the client sent when it opened the document.
      if (sentAt === undefined) return
      into.saved.push(now - sentAt)
      saved++
    }
  }
}
