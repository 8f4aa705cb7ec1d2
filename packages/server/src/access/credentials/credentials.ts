import * as apiKeys from '../../store/api-keys.ts'
import type { ApiKey, TokenRecord } from '../../store/api-keys.ts'
import type { Database } from '../../store/engine/db.ts'
import * as workspaces from '../../store/workspaces.ts'
import { lastUsed } from '../last-used.ts'
import { expectedToken } from './auth-tokens.ts'

/** An API key or a workspace, with the auth tokens that authenticate it. */
export interface KnownCaller<T> {
  readonly caller: T
  readonly tokens: readonly Buffer[]
}

/**
 * Looks up API keys and workspaces with their auth tokens. API keys are cached only if no other process can change them. An
 * operation that changes an API key drops it from the cache, so that a reset token is invalid immediately. Otherwise the
 * requests that arrive in one iteration of the event loop share one query, which is sent after the last of them.
 */
export class Credentials {
  readonly #database: Database
  readonly #tokenKey: Buffer
  readonly #cache = lastUsed<KnownCaller<ApiKey>>(10_000)
  /** The lookups of this iteration of the event loop, whose query is not sent yet. */
  readonly #unsent = new Map<string, Promise<KnownCaller<ApiKey> | undefined>>()
  /** Tokens by the record that they are derived from. Deriving one takes longer than reading its record. */
  readonly #tokens = lastUsed<Buffer>(10_000)
  /** Counts the calls of `drop`. */
  #changes = 0

  constructor(database: Database, tokenKey: Buffer) {
    this.#database = database
    this.#tokenKey = tokenKey
  }

  /** Returns the API key if it is cached. Otherwise it must be looked up with `apiKey`. */
  peek(apiKey: string): KnownCaller<ApiKey> | undefined {
    return this.#cache.get(apiKey)
  }

  /** Returns undefined if the API key does not exist. */
  async apiKey(apiKey: string): Promise<KnownCaller<ApiKey> | undefined> {
    const cached = this.#cache.get(apiKey)
    if (cached) return cached
    const asked = this.#unsent.get(apiKey)
    if (asked) return asked
    if (this.#unsent.size === 0) setImmediate(() => this.#unsent.clear())
    const found = this.#find(apiKey)
    this.#unsent.set(apiKey, found)
    return found
  }

  async #find(apiKey: string): Promise<KnownCaller<ApiKey> | undefined> {
    const changes = this.#changes
    const found = await apiKeys.find(this.#database.read, apiKey)
    if (!found) return undefined
    const known = {
      caller: found.key,
      tokens: found.tokens.map((token) => this.#tokenOf(apiKey, token)),
    }
    // An API key that was read before a change must not be cached after it.
    if (this.#database.exclusive && changes === this.#changes) this.#cache.set(apiKey, known)
    return known
  }

  #tokenOf(audience: string, record: TokenRecord): Buffer {
    const name = `${audience} ${record.tokenId} ${record.issuedAt}`
    let token = this.#tokens.get(name)
    if (!token) {
      token = expectedToken(this.#tokenKey, audience, record)
      this.#tokens.set(name, token)
    }
    return token
  }

  /** Returns undefined if the workspace does not exist. */
  async workspace(workspaceId: string): Promise<KnownCaller<{ workspaceId: string }> | undefined> {
    const found = await workspaces.find(this.#database.read, workspaceId)
    return (
      found && {
        caller: { workspaceId },
        tokens: [this.#tokenOf(workspaceId, found.token)],
      }
    )
  }

  /** Drops the API key from the cache. Call it after each change of the API key. */
  drop(apiKey: string): void {
    this.#changes++
    this.#cache.delete(apiKey)
    this.#unsent.delete(apiKey)
  }
}
