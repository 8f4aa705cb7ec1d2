import type { Input, Operation, Operations, Output } from '@plenum/protocol'
import { ApiError, type ErrorBody, type ErrorStatus } from '@plenum/protocol/errors'
import { type Route, routes } from './routes.ts'

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
  /** Milliseconds until an attempt is given up; 30,000 unless given. */
  timeoutMs?: number
  fetch?: typeof fetch
}

export interface CallOptions {
  /** Sent instead of a generated one, to make a call repeatable across restarts of the caller. */
  idempotencyKey?: string
  signal?: AbortSignal
  /** The version of the path; the newest unless given. */
  version?: 'v1' | 'v2'
}

/** What an operation answered. */
export interface Result<T> {
  message: string
  data: T
  nextPageToken?: string
  pageToken?: string
}

type Method<O extends Operation> = (
  ...args: Record<string, never> extends Input<O>
    ? [input?: Input<O>, options?: CallOptions]
    : [input: Input<O>, options?: CallOptions]
) => Promise<Result<Output<O>>>

export type Client = {
  readonly [F in keyof Operations]: {
    readonly [V in keyof Operations[F]]: Method<Operations[F][V] & Operation>
  }
}

/** Statuses after which the very same call may succeed. */
const passing = new Set<ErrorStatus>(['UNAVAILABLE', 'ABORTED'])

/** Every operation as a method: `client.organizations.delete({ organizationIds })`. Failures are thrown as `ApiError`. */
export function createClient(options: ClientOptions): Client {
  const send = options.fetch ?? globalThis.fetch.bind(globalThis)
  const base = options.url.replace(/\/+$/, '')
  const retries = options.retries ?? 2
  const families: Record<string, Record<string, unknown>> = {}
  for (const [family, verbs] of Object.entries(routes as Record<string, Record<string, Route>>)) {
    families[family] = Object.fromEntries(
      Object.entries(verbs).map(([verb, route]) => [
        verb,
        (input: unknown = {}, call: CallOptions = {}) => request(route, input, call),
      ]),
    )
  }
  return families as Client

  async function request(route: Route, input: unknown, call: CallOptions): Promise<unknown> {
    const [path, access, effect, versions] = route
    const version = call.version ?? versions[versions.length - 1]
    const headers: Record<string, string> = { 'content-type': 'application/json', ...credentials(access) }
    // With a key the server runs a write once however often it arrives, so sending it again is safe.
    if (effect === 'write') headers['idempotency-key'] = call.idempotencyKey ?? crypto.randomUUID()
    const body = JSON.stringify({ data: input })

    for (let attempt = 0; ; attempt++) {
      const last = attempt >= retries
      try {
        return await exchange(`${base}/${version}${path}`, headers, body, call.signal)
      } catch (error) {
        const again = error instanceof ApiError ? passing.has(error.status) : !call.signal?.aborted
        if (last || !again) throw error
        await pause(attempt, error instanceof ApiError ? error.retryAfterSeconds : undefined)
      }
    }
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
    const timeout = AbortSignal.timeout(options.timeoutMs ?? 30_000)
    const response = await send(url, {
      method: 'POST',
      headers,
      body,
      signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
    })
    const answer = (await response.json()) as { result: { status: string } } | ErrorBody
    if ('result' in answer) {
      const { status: _, ...result } = answer.result
      return result
    }
    const { status, message, details } = answer.error
    const retryAfter = Number(response.headers.get('retry-after'))
    throw new ApiError(status, message, {
      details,
      httpStatus: response.status,
      ...(retryAfter > 0 && { retryAfterSeconds: retryAfter }),
    })
  }
}

/** Grows with each attempt and differs between clients, so that they do not return all at once. */
const pause = (attempt: number, seconds = 0) =>
  new Promise((resolve) => setTimeout(resolve, seconds * 1000 + Math.random() * 100 * 2 ** attempt))
