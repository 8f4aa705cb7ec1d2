import type { Access, Version, VersionUser } from '@plenum/protocol'
import type { Log } from '../platform/log/log.ts'
import type { Database } from '../store/engine/db.ts'
import type { Callers } from './call.ts'
import type { CallableOperation } from './callable-operations.ts'

/** One call of an operation, whether it arrived over HTTP or on a socket. */
export interface CallRequest {
  operation: CallableOperation
  version: Version
  /** Authenticated, and within its rate limit. */
  caller: Callers[Access]
  /** As the caller sent it: `runCall` validates it. */
  input: unknown
  /** The size of the request body or message. */
  bytes: number
  /** The header `Idempotency-Key` as it was sent. */
  idempotencyKey?: string | string[] | undefined
  log: Log
  /** Undefined: a backend calls over HTTP. */
  client?: LiveClient
}

/** The client of a live connection that sent the request. */
export interface LiveClient {
  /** Undefined: the connection belongs to a backend. */
  user: VersionUser | undefined
  /** A transaction that commits only if the client may still write. */
  write: Database['write']
}
