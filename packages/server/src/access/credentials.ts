import { LRUCache } from 'lru-cache'
import * as apiKeys from '../store/api-keys.ts'
import type { ApiKey } from '../store/api-keys.ts'
import type { Database } from '../store/engine/db.ts'
import * as workspaces from '../store/workspaces.ts'
import { expectedToken } from './tokens/auth-tokens.ts'

export interface Known<T> {
  readonly caller: T
  readonly tokens: readonly Buffer[]
}

/**
 * Who may call. Looked up for every request; kept in memory only where no other process can change it, and forgotten
 * in the moment it changes, so that a reset token is void at once.
 */
export class Credentials {
  readonly #database: Database
  readonly #tokenKey: Buffer
  readonly #kept = new LRUCache<string, Known<ApiKey>>({ max: 10_000 })
  #changes = 0

  constructor(database: Database, tokenKey: Buffer) {
    this.#database = database
    this.#tokenKey = tokenKey
  }

  /** The answer without waiting, if it is at hand. */
  peek(apiKey: string): Known<ApiKey> | undefined {
    return this.#kept.get(apiKey)
  }

  async apiKey(apiKey: string): Promise<Known<ApiKey> | undefined> {
    const kept = this.#kept.get(apiKey)
    if (kept) return kept
    const changes = this.#changes
    const found = await apiKeys.find(this.#database.read, apiKey)
    if (!found) return undefined
    const known = {
      caller: found.key,
      tokens: found.tokens.map((token) => expectedToken(this.#tokenKey, apiKey, token)),
    }
    // What was read before a change must not be kept after it.
    if (this.#database.exclusive && changes === this.#changes) this.#kept.set(apiKey, known)
    return known
  }

  async workspace(workspaceId: string): Promise<Known<{ workspaceId: string }> | undefined> {
    const found = await workspaces.find(this.#database.read, workspaceId)
    return (
      found && {
        caller: { workspaceId },
        tokens: [expectedToken(this.#tokenKey, workspaceId, found.token)],
      }
    )
  }

  forget(apiKey: string): void {
    this.#changes++
    this.#kept.delete(apiKey)
  }
}
