import { ApiError, type ErrorBody, type ErrorStatus } from '@plenum/protocol/errors'
import type { CallOptions } from './platform/call.ts'
import type { Operations } from './operations/index.ts'
import { parseAddress } from './platform/address.ts'
import { randomIdempotencyKey } from './platform/idempotency-key.ts'
import { type Route, routes } from './routes.ts'

export { ApiError, type ErrorStatus }
export type { CallOptions, Result } from './platform/call.ts'
export type * from './operations/index.ts'

export interface ClientOptions {
  /** The address of the server, such as `http://localhost:4000`. A path is allowed. In a web page it may be relative. */
  url: string
  /** The API key, for most operations. */
  apiKey?: string
  /** The auth token of the API key. It gives full access to the data of the API key, so keep it in your backend. */
  authToken?: string
  /**
   * The token of a user, instead of the credentials of an API key: the calls are made as this user. A function is called for
   * every attempt, so it can return a new token when the last one has expired.
   */
  token?: string | (() => string | Promise<string>)
  /** The id of the workspace, for the operations on workspaces and API keys. */
  workspaceId?: string
  /** The auth token of the workspace. Keep it in your backend. */
  workspaceAuthToken?: string
  /** How often a failed call is retried. Only failures after which a retry is safe are retried. Default: 2. */
  retries?: number
  /** The timeout of one attempt, and the longest `Retry-After` that the client waits for. Default: 30,000. */
  timeoutMs?: number
  /** An implementation of `fetch`. Default: the global one. */
  fetch?: typeof fetch
}

/** Every operation as a method, by family: `client.organizations.get(…)`. */
export type Client = Operations

/** After these statuses, the same call may succeed later. */
const retryableStatuses = new Set<ErrorStatus>(['UNAVAILABLE', 'ABORTED'])

/**
 * Creates a client with every REST operation as a method: `client.organizations.delete({ organizationIds })`. A method
 * throws an `ApiError` when the server refuses the call, and an `ApiError` with the status `UNAVAILABLE` when no answer
 * arrives. Throws a `TypeError` if `url` is not the address of a server.
 */
export function createClient(options: ClientOptions): Client {
  parseAddress(options?.url)
  const send = options.fetch ?? globalThis.fetch.bind(globalThis)
  const base = options.url.replace(/\/+$/, '')
  const { retries = 2, timeoutMs = 30_000 } = options
  const families: Record<string, Record<string, unknown>> = {}
  for (const [family, verbs] of Object.entries(routes as Record<string, Record<string, Route>>)) {
    families[family] = Object.fromEntries(
      Object.entries(verbs).map(([verb, route]) => [
        verb,
        (input: unknown = {}, call: CallOptions = {}) => request(`${family}.${verb}`, route, input, call),
      ]),
    )
  }
  return families as unknown as Client

  async function request(name: string, route: Route, input: unknown, call: CallOptions): Promise<unknown> {
    const [path, access, effect, versions] = route
    const version = call.version ?? versions[versions.length - 1]
    const headers: Record<string, string> = { 'content-type': 'application/json', ...credentials(access) }
    const { token } = options
    const isUser = access === 'user' && token !== undefined && headers['x-svc-auth-token'] === undefined
    // With an idempotency key the server runs a write once, however often it arrives, so a retry is safe.
    if (effect === 'write') headers['idempotency-key'] = call.idempotencyKey ?? randomIdempotencyKey()
    const body = JSON.stringify({ data: input })

    for (let attempt = 0; ; attempt++) {
      try {
        if (isUser) headers.authorization = `Bearer ${typeof token === 'function' ? await token() : token}`
        return await exchange(`${base}/${version}${path}`, headers, body, call.signal)
      } catch (cause) {
        if (call.signal?.aborted) throw cause
        const error = cause instanceof ApiError ? cause : noAnswerError(name, cause)
        const retryAfterMs = (error.retryAfterSeconds ?? 0) * 1000
        const canRetry = retryableStatuses.has(error.status) && retryAfterMs <= timeoutMs
        if (!canRetry || attempt >= retries) throw error
        // The delay is random and grows with each attempt, so that clients do not all retry at the same moment.
        await pause(retryAfterMs + Math.random() * 100 * 2 ** attempt, call.signal)
      }
    }
  }

  function noAnswerError(name: string, cause: unknown): ApiError {
    const isTimeout = (cause as Error | undefined)?.name === 'TimeoutError'
    const reason = isTimeout ? `none within ${timeoutMs} ms` : reasonOf(cause)
    return new ApiError('UNAVAILABLE', `No answer from ${base} (${name}): ${reason}`, { cause })
  }

  function credentials(access: string): Record<string, string> {
    const pairs =
      access === 'workspace'
        ? { 'x-svc-workspace-id': options.workspaceId, 'x-svc-auth-token': options.workspaceAuthToken }
        : access === 'public'
          ? {}
          : { 'x-svc-api-key': options.apiKey, 'x-svc-auth-token': options.authToken }
    return Object.fromEntries(
      Object.entries(pairs).filter((pair): pair is [string, string] => pair[1] !== undefined),
    )
  }

  async function exchange(url: string, headers: Record<string, string>, body: string, signal?: AbortSignal) {
    const timeout = AbortSignal.timeout(timeoutMs)
    const response = await send(url, {
      method: 'POST',
      headers,
      body,
      // A redirect would send the credentials to another address.
      redirect: 'error',
      signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
    })
    const { result, error } = parse(await response.text())
    if (result) {
      const { status: _, ...rest } = result
      return rest
    }
    const retryAfter = Number(response.headers.get('retry-after'))
    const more = {
      details: error?.details,
      httpStatus: response.status,
      ...(retryAfter > 0 && { retryAfterSeconds: retryAfter }),
    }
    if (error) throw new ApiError(error.status, error.message, more)
    const status = [502, 503, 504].includes(response.status) ? 'UNAVAILABLE' : 'INTERNAL'
    const message = `HTTP ${response.status} from ${base} is not an answer of Plenum. Check the url, and proxies in between.`
    throw new ApiError(status, message, more)
  }
}

/**
 * Returns why `fetch` failed. In Node the reason is in the cause of the error; for a host with several addresses, in the
 * first error of the cause.
 */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error ? (error.cause ?? error) : error
  const first: unknown = cause instanceof AggregateError ? cause.errors[0] : cause
  return first instanceof Error && first.message ? first.message : String(first)
}

/** Returns an empty object if the text is not an envelope of the API, such as the error page of a proxy. */
function parse(text: string): { result?: { status: string }; error?: ErrorBody['error'] } {
  try {
    const { result, error } = JSON.parse(text)
    return { result: result?.status && result, error: error?.status && error }
  } catch {
    return {}
  }
}

const pause = (ms: number, signal?: AbortSignal) =>
  new Promise<void>((resolve, reject) => {
    const abort = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort)
      resolve()
    }, ms)
    signal?.addEventListener('abort', abort, { once: true })
  })
