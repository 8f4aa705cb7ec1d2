import { ApiError } from '@plenum/protocol/errors'

/**
 * A user token from `auth.generateToken`, or a callback that returns one. The client calls the callback when it first
 * connects, and again when the token expires soon, has expired or is refused by the server. Prefer a callback: a string
 * cannot be renewed.
 */
export type TokenSource = string | (() => string | Promise<string>)

/** A callback that takes longer than this has failed. It is called again later. */
const callbackTimeoutMs = 30_000

/** The token of the application, cached until it expires. */
export class Token {
  readonly #source: TokenSource
  #cached: unknown
  #expiresAt = Infinity
  #pending: Promise<unknown> | undefined

  constructor(source: TokenSource) {
    this.#source = source
  }

  get isRenewable(): boolean {
    return typeof this.#source === 'function'
  }

  /** Resolves with the value of the application, which is unchecked. Rejects with an `ApiError` when the callback fails. */
  async get(): Promise<unknown> {
    if (typeof this.#source !== 'function') return this.#source
    if (this.#cached !== undefined && Date.now() < this.#expiresAt) return this.#cached
    this.#pending ??= callWithTimeout(this.#source).finally(() => (this.#pending = undefined))
    this.#cached = await this.#pending
    this.#expiresAt = Infinity
    return this.#cached
  }

  /** Sets when the cached token expires, according to the server. */
  setExpiry(unixSeconds: number): void {
    this.#expiresAt = unixSeconds * 1000
  }

  /** Drops the cached token. The next `get` calls the callback. */
  drop(): void {
    this.#cached = undefined
  }
}

async function callWithTimeout(callback: () => unknown): Promise<unknown> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const timeout = new Promise<never>((_, reject) => {
    const error = () => new Error(`no answer within ${callbackTimeoutMs / 1000} seconds`)
    timer = setTimeout(() => reject(error()), callbackTimeoutMs)
  })
  try {
    return await Promise.race([callback(), timeout])
  } catch (cause) {
    if (cause instanceof ApiError) throw cause
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new ApiError('UNAUTHENTICATED', `The token callback failed: ${reason}`, { cause })
  } finally {
    clearTimeout(timer)
  }
}
