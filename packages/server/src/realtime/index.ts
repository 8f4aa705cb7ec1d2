import type { Limits } from '../config.ts'
import { createCrdt } from './crdt.ts'
import { Gateway } from './gateway.ts'
import { Hub } from './hub.ts'
import type { IdentityParts } from './identify.ts'
import type { Log } from '../platform/log.ts'

export interface RealtimeParts extends IdentityParts {
  log: Log
  limits: Limits
}

/** Everything that is live. */
export function createGateway({ log, limits, ...identity }: RealtimeParts): Gateway {
  const crdt = createCrdt()
  const hub = new Hub({ ...identity, crdt, log })
  return new Gateway({ ...identity, hub, crdt, log, maxConnections: limits.connections })
}
