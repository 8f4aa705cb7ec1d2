/** A Yjs client that left. */
interface GoneClient {
  /** The clock of its removal. Others ignore states of this client that are not newer. */
  readonly clock: number
  readonly userId: string
  readonly isWriter: boolean
}

const maxClientsPerRole = 1_000

/** Clients of an editor that left and may come back. Viewers never evict editors. */
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
      if (clients.size <= maxClientsPerRole) break
      clients.delete(oldest)
    }
  }

  delete(client: number): void {
    this.#writers.delete(client)
    this.#viewers.delete(client)
  }
}
