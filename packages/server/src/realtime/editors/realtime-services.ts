import type { Credentials } from '../../access/credentials/credentials.ts'
import type { LargeDeletions } from '../../deletions/large-deletions.ts'
import type { PermissionProvider } from '../../access/provider/permission-provider.ts'
import type { Limits } from '../../config.ts'
import type { Crdt } from '../../crdt/crdt.ts'
import type { StoredDocuments } from '../../crdt/stored-documents.ts'
import { type Fault, faultCodes } from '../../crdt/updates/fault.ts'
import type { Bus } from '../../bus.ts'
import type { Peers } from '../../peers/peers.ts'
import type { Signals } from '../../peers/signals.ts'
import { SharedLists } from '../../peers/shared-lists.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Log } from '../../platform/log/log.ts'
import type { LiveNumbers } from '../../platform/metrics/live-metrics.ts'
import { Scheduler } from '../../platform/turns/scheduler.ts'
import { Limiter } from '../../platform/turns/limiter.ts'
import { StartQueue } from '../../platform/turns/start-queue.ts'
import type { Database } from '../../store/engine/db.ts'
import { AccessEvaluator } from '../authorization/access-evaluator.ts'
import { Commits } from '../authorization/commits.ts'
import { CreationLimits } from '../authorization/creation-limits.ts'
import type { ThreadReads } from '../live-states/changed-threads.ts'
import { DocumentDirectory } from '../documents/directory.ts'
import { RoomLoader } from '../documents/room-loader.ts'
import { OpenInboxes } from '../inboxes/open-inboxes.ts'
import { OpenLists } from '../lists/open-lists.ts'
import { LiveStateWriter } from '../live-states/live-state-writer.ts'
import type { LargeJson } from '../messages/large-json.ts'
import { LargeMessages } from '../messages/large-messages.ts'
import { Appender, type AppenderDeps } from '../rooms/appender.ts'
import { Declarations } from './declarations.ts'
import { OperationCalls, type RunOperation } from './operation-calls.ts'
import { type RunVersionOperation, VersionRequests } from './version-requests.ts'

export interface ServicesDeps {
  database: Database
  credentials: Credentials
  deletions: LargeDeletions
  permissionProvider: PermissionProvider
  bus: Bus
  signals: Signals
  peers: Peers
  crdt: Crdt
  largeJson: LargeJson
  storedDocuments: StoredDocuments
  limits: Limits
  runVersionOperation: RunVersionOperation
  runOperation: RunOperation
  threadReads: ThreadReads
  editorEventsWantedBy: AppenderDeps['editorEventsWantedBy']
  clock: Clock
  log: Log
}

/**
 * Client-triggered queries that run at a time. Thousands of clients may connect at once. A query that waits too long for a
 * database connection fails, so without this limit their queries, and all others that wait, would fail.
 */
const maxConcurrentQueries = 8

/**
 * Builds what the sessions of all dialects share, from all folders of realtime. One object for the whole server. It is in
 * `editors/`, because `dialects/` uses it, and a folder may import only the folders before it.
 */
export class RealtimeServices {
  /** Limits client-triggered queries, fairly per user. */
  readonly gate = new Limiter(maxConcurrentQueries)
  /** Divides the time of the event loop between clients: for the messages that they send, and for broadcasts. */
  readonly scheduler = new Scheduler()
  readonly documents: DocumentDirectory
  readonly largeMessages: LargeMessages
  readonly liveStateWriter: LiveStateWriter
  readonly declarations: Declarations
  readonly versions: VersionRequests
  readonly calls: OperationCalls
  readonly inboxes: OpenInboxes
  readonly lists: OpenLists
  readonly #commits: Commits
  readonly #appender: Appender
  readonly #sharedLists: SharedLists
  /** How many updates were refused for each reason, since the start. */
  readonly #refusedUpdates = noRefusals()

  constructor(deps: ServicesDeps) {
    const { gate, scheduler } = this
    const { database, clock } = deps
    const now = () => clock.now()
    const commits = new Commits(database, deps.signals)
    const appender = new Appender({ ...deps, commits, gate, now })
    const evaluator = new AccessEvaluator({ ...deps, gate, creationLimits: new CreationLimits(deps) })
    const sharedLists = new SharedLists(deps)
    this.documents = new DocumentDirectory({
      ...deps,
      sharedLists,
      gate,
      scheduler,
      appender,
      roomLoader: new RoomLoader({ ...deps, sharedLists, gate, appender }),
      largeReads: new StartQueue(),
      evaluateAccess: (document, clients) => evaluator.evaluate(document, clients),
      onUpdateRefused: (reason) => this.#refusedUpdates[reason]++,
    })
    this.largeMessages = new LargeMessages(deps)
    this.liveStateWriter = new LiveStateWriter({ ...deps, commits })
    this.declarations = new Declarations({ ...deps, commits, gate })
    this.versions = new VersionRequests({ ...deps, commits })
    this.calls = new OperationCalls(deps)
    this.inboxes = new OpenInboxes(deps)
    this.lists = new OpenLists(deps)
    this.#commits = commits
    this.#appender = appender
    this.#sharedLists = sharedLists
  }

  get numbers(): Omit<LiveNumbers, 'connections' | 'closes'> {
    const { stored, waiting } = this.#appender
    return {
      ...this.documents.numbers,
      ...stored,
      waitingEditors: waiting,
      refusedUpdates: this.#refusedUpdates,
    }
  }

  start(): void {
    this.documents.start()
  }

  /** See `Commits.whenRevokedCommitsEnded`. */
  whenRevokedCommitsEnded(apiKey: string): Promise<unknown> | undefined {
    return this.#commits.whenRevokedCommitsEnded(apiKey)
  }

  /** Resolves when everything that clients sent is stored and broadcast. */
  async idle(): Promise<void> {
    await this.largeMessages.idle()
    await Promise.all([this.#appender.idle(), this.liveStateWriter.idle()])
    await this.versions.idle()
    await this.calls.idle()
  }

  sweep(): Promise<void> {
    return this.documents.sweep()
  }

  close(): void {
    this.documents.close()
    this.#sharedLists.close()
    this.inboxes.close()
    this.lists.close()
  }
}

const noRefusals = () =>
  Object.fromEntries(faultCodes.map((code) => [code, 0])) as Record<Fault['code'], number>
