import * as Y from 'yjs'
import type { Client } from './client.ts'

/** Milliseconds from the moment an update was sent. */
export interface Latencies {
  /** Until its sender knew that the server has it. */
  saved: number[]
  /** Until another client had it. */
  delivered: number[]
}

export interface Sender {
  client: Client
  clientId: number
  /** When update n was sent. */
  sentAt: number[]
}

/** Watches what the watchers hear about the updates of the senders, all in one document. */
export function watch(senders: Sender[], watchers: Sender[], acknowledged: boolean, into: Latencies): void {
  const byId = new Map(senders.map((sender) => [sender.clientId, sender]))
  for (const watcher of watchers) {
    /** How many updates of each sender were here already. */
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
      // The first answers the state that the client sent when it opened the document.
      if (sentAt === undefined) return
      into.saved.push(now - sentAt)
      saved++
    }
  }
}
