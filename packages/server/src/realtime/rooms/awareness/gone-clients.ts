import { LazyMap } from '../../../platform/lazy-collections.ts'

/** The last user of a Yjs client id whose client left. */
interface GoneClient {
  /** The clock of the removal. Other clients ignore states of this id that are not newer. */
  readonly clock: number
  readonly userId: string
  readonly hasWriteRole: boolean
}

const maxIdsPerRole = 1_000

/** Yjs client ids whose clients left an editor and may come back. Viewers never evict users who may write. */
export class GoneClients {
  readonly #writers = new LazyMap<number, GoneClient>()
  readonly #viewers = new LazyMap<number, GoneClient>()

  get(clientId: number): GoneClient | undefined {
    return this.#writers.get(clientId) ?? this.#viewers.get(clientId)
  }

  add(clientId: number, gone: GoneClient): void {
    this.delete(clientId)
    const ids = gone.hasWriteRole ? this.#writers : this.#viewers
    ids.set(clientId, gone)
    for (const oldest of ids.keys()) {
      if (ids.size <= maxIdsPerRole) break
      ids.delete(oldest)
    }
  }

  delete(clientId: number): void {
    this.#writers.delete(clientId)
    this.#viewers.delete(clientId)
  }
}
