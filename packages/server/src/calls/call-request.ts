import type { Access, ApiVersion, VersionUser } from '@plenum/protocol'
import type { Log } from '../platform/log/log.ts'
import type { Database } from '../store/engine/db.ts'
import type { Callers } from './call.ts'
import type { CallableOperation } from './callable-operations.ts'

/** One call of an operation, whether it arrived over HTTP or on a socket. */
export interface CallRequest {
  callable: CallableOperation
  version: ApiVersion
  /** Authenticated, and within its rate limit. */
  caller: Callers[Access]
  /** As the caller sent it: `runCall` validates it. */
  input: unknown
  /** The size of the HTTP body or socket message. */
  bytes: number
  /** The header `Idempotency-Key`, not yet validated. */
  idempotencyKey?: string | string[] | undefined
  log: Log
  /** Aborted when nobody waits for the answer any more. Undefined: unknown. */
  abandoned?: AbortSignal | undefined
  /** The client that sent the request on a socket. Undefined: a backend sent it over HTTP. */
  client?: LiveClient
}

/** A client that calls an operation on its socket. */
export interface LiveClient {
  /** Undefined: the socket belongs to a backend. */
  user: VersionUser | undefined
  /** A transaction that commits only if the client may still write. */
  write: Database['write']
}
