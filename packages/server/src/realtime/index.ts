import type { Limits } from '../config.ts'
import type { DocumentThreads } from '../editors/document-threads.ts'
import { createCrdt } from './crdt.ts'
import { Gateway } from './gateway.ts'
import { Hub } from './hub.ts'
import type { IdentityParts } from './identify.ts'
import type { Log } from '../platform/log.ts'

export interface RealtimeParts extends IdentityParts {
  log: Log
  limits: Limits
  threads: DocumentThreads
}

/** Everything that is live. */
export function createGateway({ log, limits, threads, ...identity }: RealtimeParts): Gateway {
  const crdt = createCrdt(threads)
  const hub = new Hub({ ...identity, crdt, log, limits })
  return new Gateway({ ...identity, hub, log, maxConnections: limits.connections })
}
