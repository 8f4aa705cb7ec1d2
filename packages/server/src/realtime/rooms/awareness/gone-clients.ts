/** The last state of a Yjs client that is gone. */
interface GoneClient {
  /** With which it was removed: others ignore a state of this client that is not newer. */
  readonly clock: number
  readonly userId: string
  readonly isWriter: boolean
}

const maxClients = 1_000

/** Clients of an editor that are gone and may come back. Those of viewers never push out those of editors. */
export class GoneClients {
  readonly #writers = new Map<number, GoneClient>()
  readonly #viewers = new Map<number, GoneClient>()

  get(client: number): GoneClient | undefined {
    return this.#writers.get(client) ?? this.#viewers.get(client)
  }

  add(client: number, gone: GoneClient): void {
    this.delete(client)
    const clients = gone.isWriter ? this.#writers : this.#viewers
    clients.set(client, gone)
    for (const oldest of clients.keys()) {
      if (clients.size <= maxClients) break
      clients.delete(oldest)
    }
  }

  delete(client: number): void {
    this.#writers.delete(client)
    this.#viewers.delete(client)
  }
}
