import { ApiError } from '@plenum/protocol/errors'

/** A user token, or what gets one: asked for the first, and again whenever one has expired. */
export type TokenSource = string | (() => string | Promise<string>)

/** For the token callback. Then the attempt has failed, and the callback is called again later. */
const timeoutMs = 30_000

export class Token {
  readonly #source: TokenSource
  #value: unknown
  #expiresAt = Infinity
  #asking: Promise<unknown> | undefined

  constructor(source: TokenSource) {
    this.#source = source
  }

  get isRenewable(): boolean {
    return typeof this.#source === 'function'
  }

  /** Whatever the application gave, unchecked. Rejects with an `ApiError` when the callback fails. */
  async get(): Promise<unknown> {
    if (typeof this.#source !== 'function') return this.#source
    if (this.#value !== undefined && Date.now() < this.#expiresAt) return this.#value
    this.#asking ??= ask(this.#source).finally(() => (this.#asking = undefined))
    this.#value = await this.#asking
    this.#expiresAt = Infinity
    return this.#value
  }

  /** As the server says; Unix seconds. */
  expires(unixSeconds: number): void {
    this.#expiresAt = unixSeconds * 1000
  }

  /** The next one is a new one. */
  forget(): void {
    this.#value = undefined
  }
}

async function ask(source: () => unknown): Promise<unknown> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const tooLate = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${timeoutMs / 1000} seconds`)), timeoutMs)
  })
  try {
    return await Promise.race([source(), tooLate])
  } catch (cause) {
    if (cause instanceof ApiError) throw cause
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new ApiError('UNAUTHENTICATED', `The token callback failed: ${why}`, { cause })
  } finally {
    clearTimeout(timer)
  }
}
