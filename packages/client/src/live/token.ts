import { ApiError } from '@plenum/protocol/errors'

/** A user token, or what gets one: asked for the first, and again whenever one has expired. */
export type TokenSource = string | (() => string | Promise<string>)

const patienceMs = 30_000

export class Token {
  readonly #source: TokenSource
  #value: string | undefined
  #expiresAt = Infinity
  #asking: Promise<string> | undefined

  constructor(source: TokenSource) {
    this.#source = source
  }

  get isRenewable(): boolean {
    return typeof this.#source === 'function'
  }

  /** Rejects with an `ApiError` when the callback fails. */
  async get(): Promise<string> {
    if (typeof this.#source === 'string') return this.#source
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

async function ask(source: () => string | Promise<string>): Promise<string> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const tooLate = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`No token after ${patienceMs / 1000} seconds.`)), patienceMs)
  })
  try {
    const token = await Promise.race([source(), tooLate])
    if (typeof token !== 'string') throw new TypeError('A token must be a string.')
    return token
  } catch (cause) {
    if (cause instanceof ApiError) throw cause
    throw new ApiError('UNAUTHENTICATED', `The token callback failed: ${String(cause)}`, { cause })
  } finally {
    clearTimeout(timer)
  }
}
