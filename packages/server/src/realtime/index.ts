import type { Limits } from '../config.ts'
import type { DocumentThreads } from '../crdt/document-threads.ts'
import { createStoredDocuments } from '../crdt/stored-documents.ts'
import { createCrdt } from '../crdt/crdt.ts'
import { Gateway, type GatewayParts } from './gateway.ts'
import { Hub } from './documents/hub.ts'
import type { IdentityParts } from './authorization/identify.ts'
import { createLargeJson } from './messages/large-json.ts'
import { OpenPages } from './authorization/open-pages.ts'
import type { RunVersionOperation } from './editors/version-requests.ts'
import type { Log } from '../platform/log/log.ts'

export interface RealtimeParts extends Omit<IdentityParts, 'pages'> {
  log: Log
  limits: Limits
  threads: DocumentThreads
  publicOrigins: readonly string[]
  addressOf: GatewayParts['addressOf']
  runVersionOperation: RunVersionOperation
}

/** Everything that is live. */
export function createGateway(parts: RealtimeParts): Gateway {
  const { log, limits, threads, publicOrigins, addressOf, runVersionOperation, ...identity } = parts
  const { database, bus } = identity
  const pages = new OpenPages({ database, bus, log, publicOrigins })
  const crdt = createCrdt(threads)
  const largeJson = createLargeJson(threads)
  const storedDocuments = createStoredDocuments(threads)
  const hub = new Hub({ ...identity, crdt, largeJson, storedDocuments, log, limits, runVersionOperation })
  return new Gateway({ ...identity, pages, hub, log, addressOf, maxConnections: limits.connections })
}
