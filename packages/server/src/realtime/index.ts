import type { PermissionProvider } from '../access/provider/permission-provider.ts'
import type { Limits } from '../config.ts'
import { createCrdt } from '../crdt/crdt.ts'
import type { DocumentThreads } from '../crdt/document-threads.ts'
import { createStoredDocuments } from '../crdt/stored-documents.ts'
import type { Bus } from '../bus.ts'
import type { Peers } from '../peers/peers.ts'
import type { Signals } from '../peers/signals.ts'
import { type Clock, systemClock } from '../platform/clock.ts'
import type { Log } from '../platform/log/log.ts'
import type { UnsentAnswers } from '../platform/turns/unsent-answers.ts'
import type { IdentityDeps } from './authorization/identity.ts'
import { OpenPages } from './authorization/open-pages.ts'
import type { ThreadReads } from './live-states/changed-threads.ts'
import { RealtimeServices, type ServicesDeps } from './editors/realtime-services.ts'
import type { RunOperation } from './editors/operation-calls.ts'
import type { RunVersionOperation } from './editors/version-requests.ts'
import { Gateway, type GatewayDeps } from './gateway.ts'
import { createLargeJson } from './messages/large-json.ts'

export interface RealtimeDeps extends Omit<IdentityDeps, 'pages'> {
  bus: Bus
  signals: Signals
  peers: Peers
  log: Log
  limits: Limits
  permissionProvider: PermissionProvider
  threads: DocumentThreads
  publicOrigins: readonly string[]
  addressOf: GatewayDeps['addressOf']
  unsentAnswers: UnsentAnswers
  runVersionOperation: RunVersionOperation
  runOperation: RunOperation
  threadReads: ThreadReads
  editorEventsWantedBy: ServicesDeps['editorEventsWantedBy']
  /** Default: the system's clock, but with the `now` of these dependencies. */
  clock?: Clock
}

/** Creates the realtime part of the server: sockets, open documents, editors, presence and live states. */
export function createGateway(deps: RealtimeDeps): Gateway {
  const { log, limits, threads, permissionProvider, publicOrigins, ...connecting } = deps
  const { addressOf, runVersionOperation, runOperation, threadReads, editorEventsWantedBy, ...rest } =
    connecting
  const { unsentAnswers, ...others } = rest
  const {
    database,
    bus,
    signals,
    peers,
    credentials,
    deletions,
    now,
    clock = { ...systemClock, now },
  } = others
  const shared = { ...others, clock, log }
  const pages = new OpenPages({ database, bus, log, publicOrigins, clock })
  const services = new RealtimeServices({
    database,
    credentials,
    deletions,
    permissionProvider,
    bus,
    signals,
    peers,
    crdt: createCrdt(threads),
    largeJson: createLargeJson(threads, clock),
    storedDocuments: createStoredDocuments(threads),
    limits,
    runVersionOperation,
    runOperation,
    threadReads,
    editorEventsWantedBy,
    clock,
    log,
  })
  return new Gateway({
    ...shared,
    pages,
    services,
    addressOf,
    maxConnections: limits.connections,
    unsentAnswers,
  })
}
