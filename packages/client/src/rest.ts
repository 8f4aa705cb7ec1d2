import { ApiError, type ErrorBody, type ErrorStatus } from '@plenum/protocol/errors'
import { parseAddress } from './platform/address.ts'
import type { CallOptions } from './call.ts'
import type { Operations } from './operations/index.ts'
import { type Route, routes } from './routes.ts'

export { ApiError, type ErrorStatus }
export type { CallOptions, Result } from './call.ts'
export type * from './operations/index.ts'

export interface ClientOptions {
  /** Address of the server, such as `http://localhost:4000`. */
  url: string
  /** For the operations of an API key. */
  apiKey?: string
  authToken?: string
  /** For the operations of a workspace. */
  workspaceId?: string
  workspaceAuthToken?: string
  /** How often a call that failed on the way is sent again; 2 unless given. */
  retries?: number
  /** Milliseconds until an attempt is given up, and the longest that a server may ask to wait; 30,000 unless given. */
  timeoutMs?: number
  fetch?: typeof fetch
}

/** Every operation as a method, by family. */
export type Client = Operations

/** Statuses after which the very same call may succeed. */
const passing = new Set<ErrorStatus>(['UNAVAILABLE', 'ABORTED'])

/**
 * Every operation as a method: `client.organizations.delete({ organizationIds })`. What the server refuses is thrown as
 * `ApiError`, and so is a call without an answer, with the status `UNAVAILABLE`.
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
    // With a key the server runs a write once however often it arrives, so sending it again is safe.
    if (effect === 'write') headers['idempotency-key'] = call.idempotencyKey ?? randomKey()
    const body = JSON.stringify({ data: input })

    for (let attempt = 0; ; attempt++) {
      try {
        return await exchange(`${base}/${version}${path}`, headers, body, call.signal)
      } catch (cause) {
        if (call.signal?.aborted) throw cause
        const failure = cause instanceof ApiError ? cause : noAnswer(name, cause)
        const told = (failure.retryAfterSeconds ?? 0) * 1000
        if (!passing.has(failure.status) || attempt >= retries || told > timeoutMs) throw failure
        // Grows with each attempt and differs between clients, so that they do not return all at once.
        await pause(told + Math.random() * 100 * 2 ** attempt, call.signal)
      }
    }
  }

  function noAnswer(name: string, cause: unknown): ApiError {
    const isTimeout = (cause as Error | undefined)?.name === 'TimeoutError'
    const why = isTimeout ? `none within ${timeoutMs} ms` : reasonOf(cause)
    return new ApiError('UNAVAILABLE', `No answer from ${base} (${name}): ${why}`, { cause })
  }

  function credentials(access: string): Record<string, string> {
    const pairs =
      access === 'workspace'
        ? { 'x-svc-workspace-id': options.workspaceId, 'x-svc-auth-token': options.workspaceAuthToken }
        : access === 'apiKey'
          ? { 'x-svc-api-key': options.apiKey, 'x-svc-auth-token': options.authToken }
          : {}
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
      // A redirect would carry the credentials to wherever it leads.
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
    throw new ApiError(status, `No answer of the interface came back, but HTTP ${response.status}.`, more)
  }
}

/** Node hides why a call failed in the cause, and for a host with several addresses in the errors of the cause. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error ? (error.cause ?? error) : error
  const first: unknown = cause instanceof AggregateError ? cause.errors[0] : cause
  return first instanceof Error && first.message ? first.message : String(first)
}

/** What is no envelope, such as the page of a proxy, holds neither. */
function parse(text: string): { result?: { status: string }; error?: ErrorBody['error'] } {
  try {
    const { result, error } = JSON.parse(text)
    return { result: result?.status && result, error: error?.status && error }
  } catch {
    return {}
  }
}

/** `crypto.randomUUID` is missing in pages that came over plain HTTP. */
const randomKey = () =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join(
    '',
  )

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
