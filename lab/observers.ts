import { setTimeout as pause } from 'node:timers/promises'
import { type Connection, createClient, type LiveEditor } from '@plenum/client'
import { WebSocket } from 'ws'
import type { Cluster } from './cluster.ts'
import { readText } from './oracle.ts'
import { editorId, organizationId } from './raw-editor.ts'

/** Clients of the package `@plenum/client` that have one editor open: one at each server, and one at the load balancer. */
export class Observers {
  readonly #cluster: Cluster
  readonly #documentId: string
  readonly #connections: Connection[]
  readonly #editors: LiveEditor[]
  /** All sockets that the clients have opened. */
  readonly sockets: WebSocket[] = []

  constructor(cluster: Cluster, documentId: string) {
    this.#cluster = cluster
    this.#documentId = documentId
    const urls = [cluster.balancer, ...cluster.entrances].map(({ url }) => url)
    const { sockets } = this
    class Socket extends WebSocket {
      constructor(url: string) {
        super(url)
        sockets.push(this)
      }
    }
    this.#connections = urls.map((url) =>
      createClient({ url }).connect({ token: cluster.token, WebSocket: Socket, idle: false }),
    )
    // Without a listener, the client warns on the console.
    for (const connection of this.#connections) connection.on('error', () => {})
    this.#editors = this.#connections.map((one) => one.document(organizationId, documentId).editor(editorId))
  }

  async synced(): Promise<void> {
    await Promise.all(this.#editors.map((editor) => editor.whenSynced))
  }

  /**
   * Waits until all clients are connected and have the stored content. Returns how long that took, or undefined after the
   * time limit. Clients connect at once: how long they wait after a failed attempt depends on how long the fault lasted.
   */
  async converge(limitMs: number): Promise<number | undefined> {
    const beganAt = performance.now()
    for (const connection of this.#connections) {
      if (connection.status === 'reconnecting') connection.reconnect()
    }
    while (performance.now() - beganAt < limitMs) {
      const stored = await readText(this.#cluster, this.#cluster.balancer.url, this.#documentId).catch(
        () => undefined,
      )
      const areEqual = this.#editors.every(
        ({ status, doc }) => status === 'connected' && doc.getText('content').toJSON() === stored,
      )
      if (areEqual) return performance.now() - beganAt
      await pause(20)
    }
    return undefined
  }

  close(): void {
    for (const connection of this.#connections) connection.close()
  }
}
