import type { AddressInfo } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { Credentials } from './access/credentials/credentials.ts'
import { LargeDeletions } from './deletions/large-deletions.ts'
import { createDisposableCheck } from './access/domains/disposable.ts'
import type { Secrets } from './access/credentials/secrets.ts'
import { PermissionProvider } from './access/provider/permission-provider.ts'
import { createUserTokens } from './access/tokens/user-tokens.ts'
import { createCallableOperations } from './calls/callable-operations.ts'
import { createLiveCalls } from './calls/live-calls.ts'
import { createLiveVersionCalls } from './calls/live-version-calls.ts'
import { createIdempotency } from './calls/idempotency.ts'
import { createRateLimits } from './calls/limits/rate-limits.ts'
import type { Services } from './calls/services.ts'
import { SubjectQueues } from './calls/limits/subject-queues.ts'
import { type Config, ConfigError, newKeyOptionsOf } from './config.ts'
import { createDeliverMail } from './deliveries/emails/deliver-mail.ts'
import { createMailTransport } from './deliveries/emails/transports/server-transport.ts'
import { createSendEmail } from './deliveries/emails/send-email.ts'
import { unsubscribeUrl } from './deliveries/emails/unsubscribe-tokens.ts'
import { DocumentThreads } from './crdt/document-threads.ts'
import { createDeliverWebhook } from './deliveries/webhooks/deliver-webhook.ts'
import { createStoredDocuments } from './crdt/stored-documents.ts'
import { EditorEventSettings } from './events/editor-event-settings.ts'
import { createApiKeyCheck } from './http/api-key-check.ts'
import { createApp } from './http/app.ts'
import { createAuthenticator } from './http/authenticate.ts'
import { mountBodyParsers } from './http/bodies/body-parsers.ts'
import { errorBody } from './http/errors.ts'
import { mountOperations } from './http/mount.ts'
import { mountPages } from './http/pages/pages.ts'
import { mountUnsubscribe } from './http/pages/unsubscribe.ts'
import { createRequestIds } from './http/request-ids.ts'
import { createConnections } from './http/sockets/connections.ts'
import { requestAddress } from './http/sockets/request-address.ts'
import { createUserAuthenticator } from './http/user-authenticator.ts'
import { createBearerCheck } from './http/y-sweet/bearer.ts'
import { mountYSweet } from './http/y-sweet/y-sweet.ts'
import { createHousekeeping } from './jobs/housekeeping.ts'
import { createJobHandlers } from './jobs/handlers.ts'
import { createJobRunner } from './jobs/runner.ts'
import { createThreadReads } from './operations/comments/changed-threads.ts'
import { handlers } from './operations/index.ts'
import { type Bus, createServerBus } from './bus.ts'
import { Peers } from './peers/peers.ts'
import { Signals } from './peers/signals.ts'
import { type Clock, systemClock } from './platform/clock.ts'
import type { Log } from './platform/log/log.ts'
import type { Metrics } from './platform/metrics/metrics.ts'
import { createAddressRule } from './platform/outgoing/allowed-addresses.ts'
import { createOutgoingPost, type OutgoingPostDeps } from './platform/outgoing/outgoing-post.ts'
import { isCallableUrl } from './platform/outgoing/outgoing-urls.ts'
import { startWorker } from './platform/threads/worker.ts'
import { createPostgresLink } from './platform/server-link/postgres-link.ts'
import { createRedisLink } from './platform/server-link/redis-link.ts'
import type { ServerLink } from './platform/server-link/server-link.ts'
import { InProgress } from './platform/turns/in-progress.ts'
import { LongReads } from './platform/turns/long-reads.ts'
import { UnsentAnswers } from './platform/turns/unsent-answers.ts'
import { docIdPattern, parseDocId } from './realtime/documents/editor-name.ts'
import { createGateway } from './realtime/index.ts'
import { version } from './start/version.ts'
import * as domains from './store/domains.ts'
import { SnapshotWriter } from './store/editors/snapshot-writer.ts'
import type { Database } from './store/engine/db.ts'
import { findEditorEventKeys } from './store/webhooks/editor-event-keys.ts'
import { createNewEvents } from './calls/new-events.ts'
import { EventNames } from './access/credentials/event-names.ts'
import { adoptServer } from './store/event-log.ts'
import { databaseId } from './store/database-id.ts'

export interface ServerDeps {
  config: Config
  database: Database
  secrets: Secrets
  metrics: Metrics
  log: Log
  /** Default: a bus within this process. */
  bus?: Bus
  /** Passes messages to the other servers on the database. Default: as the settings say. */
  link?: ServerLink | undefined
  /** Default: the system's clock. */
  clock?: Clock
  /** How often the job runner looks for postponed jobs. */
  jobPollMs?: number
  /** Resolves the names of hosts that the server calls. Default: DNS. */
  resolveHost?: OutgoingPostDeps['resolve']
  /** Default: threads that run the program `worker` beside this module. */
  threads?: DocumentThreads
}

export interface Server {
  app: FastifyInstance
  /** Starts to listen, and starts the background work. Resolves with the URL of the server. */
  start(): Promise<string>
  /** Drains the server: finishes accepted requests and refuses new ones. Afterwards the caller closes the database. */
  stop(): Promise<void>
  /** Resolves when open sessions know what other servers had changed before. They learn it anyway, within a second. */
  catchUp(): Promise<void>
}

/** Reads in progress. Each waits with some 20 KB of memory, until it has a place for rows. */
const maxReads = { perUser: 100, perKey: 2_000, perServer: 10_000 }
const reservedReads = { perUser: 10, perKey: 100 }

/** Builds the server. It gets the database, clock and log as arguments, so tests run the same server with their own. */
export function createServer(deps: ServerDeps): Server {
  const { config, database, secrets, metrics, log } = deps
  const { bus = createServerBus(log), clock = systemClock } = deps
  const { limits, publicOrigins, trustedProxyHops } = config
  const { now } = clock
  let isDraining = false

  // The other servers on the database.
  const peers = new Peers({ link: deps.link ?? createServerLink(config, database), log, clock })
  const signals = new Signals({ database, bus, peers, log, clock, onMissed: () => gateway.onSignalsMissed() })

  // Credentials, permission providers, rate limits and large deletions.
  const credentials = new Credentials(database, secrets.authTokenKey)
  const userTokens = createUserTokens(database, secrets)
  const rateLimits = createRateLimits({ limits, database, peers, clock, key: secrets.addressKey })
  const post = createOutgoingPost({
    clock,
    privateAddresses: config.outgoingPrivateAddresses,
    resolve: deps.resolveHost,
  })
  const permissionProvider = new PermissionProvider({ database, secrets, post, clock, log })
  const deletions = new LargeDeletions({
    database,
    clock,
    onGone: (gone) => signals.send({ kind: 'gone', ...gone }),
    createAccessChange: (apiKey) => {
      const messages = [{ kind: 'access', apiKey }] as const
      return { store: (db) => signals.store(db, messages), publish: () => signals.publish(messages) }
    },
    onFailure: (err, { deletionId }) => log.warn({ err, deletionId }, 'deletion failed and will be retried'),
  })

  // Documents: built in threads, stored as snapshots.
  const { threads = new DocumentThreads(() => startWorker('worker', import.meta.url)) } = deps
  const snapshots = new SnapshotWriter(database, (err) => log.error({ err }, 'cannot write a snapshot'))

  // Mails.
  const mailTransport = createMailTransport(config, { clock, log })
  const sendEmail = createSendEmail({
    transport: mailTransport,
    post,
    mailFrom: config.mailFrom ?? 'plenum@localhost',
    unsubscribeUrlOf: (target) =>
      unsubscribeUrl(publicOrigins[0] ?? `http://localhost:${config.port}`, secrets, target),
  })

  // Background work.
  const storedDocuments = createStoredDocuments(threads)
  const webhookPost = createOutgoingPost({
    clock,
    privateAddresses: config.outgoingPrivateAddresses,
    allowedRanges: config.webhookAllowedRanges,
    resolve: deps.resolveHost,
  })
  const jobHandlers = createJobHandlers({
    permissionProvider,
    sendEmail,
    secrets,
    log,
    deliverWebhook: createDeliverWebhook({
      database,
      secrets,
      permissionProvider,
      storedDocuments,
      post: webhookPost,
      clock,
      serverCount: () => 1 + peers.count,
    }),
    deliverMail: createDeliverMail({ database, secrets, sendEmail, clock, permissionProvider }),
    removeInSteps: (apiKey, scope, transaction) => deletions.removeWith(apiKey, scope, transaction),
    resumeDeletions: () => void deletions.resume(),
  })
  const jobs = createJobRunner({
    database,
    handlers: jobHandlers,
    signals,
    log,
    clock,
    pollMs: deps.jobPollMs,
    observe: metrics.job,
  })
  const housekeeping = createHousekeeping({
    database,
    log,
    clock,
    observe: metrics.job,
    eventRetentionDays: config.eventRetentionDays,
  })

  // Who wants to know of changed editors.
  const editorEvents = new EditorEventSettings(findEditorEventKeys, clock)
  bus.subscribe((message) => {
    if (message.kind === 'webhooks') editorEvents.drop(message.apiKey)
  })

  // Operations, called over HTTP or on a socket.
  const isWebhookAddress = createAddressRule(config.outgoingPrivateAddresses, config.webhookAllowedRanges)
  let eventNames: EventNames | undefined
  const newEvents = createNewEvents({ database, bus, clock })
  const services: Services = {
    database,
    bus,
    signals,
    clock,
    secrets,
    credentials,
    userTokens,
    rateLimits,
    permissionProvider,
    limits,
    deletions,
    snapshots,
    editorEventsWantedBy: editorEvents.wantedBy,
    workspaceCreation: config.workspaceCreation,
    newKeyOptions: newKeyOptionsOf(config),
    eventRetentionDays: config.eventRetentionDays,
    // Set when the server has started.
    eventNames: () => eventNames as EventNames,
    newEvents,
    isWebhookUrl: (url) => isCallableUrl(url, isWebhookAddress, config.outgoingPrivateAddresses),
    consoleHosts: config.consoleHosts,
    isDisposable: createDisposableCheck({
      extra: config.disposableDomains,
      allow: config.disposableDomainsExcept,
    }),
    storedDocuments,
    longReads: new LongReads(database.exclusive ? {} : { maxQueries: 2 }),
    reads: new InProgress(maxReads, reservedReads, 'Too many reads are in progress.'),
    idempotency: createIdempotency(database, secrets),
    subjectQueues: new SubjectQueues(),
    lock: database.lock,
    writeStep: (work, lane) => database.write(work, lane),
    wakeJobs: jobs.wake,
    resumeDeletions: () => void deletions.resume(),
    whenRevokedCommitsEnded: (apiKey) => gateway.whenRevokedCommitsEnded(apiKey),
  }
  const callables = createCallableOperations(handlers)

  // Live documents, over WebSockets.
  const unsentAnswers = new UnsentAnswers()
  const runLiveCall = createLiveCalls(services, callables, log)
  const gateway = createGateway({
    database,
    credentials,
    deletions,
    permissionProvider,
    userTokens,
    bus,
    signals,
    peers,
    log,
    now,
    clock,
    limits,
    threads,
    editorEventsWantedBy: editorEvents.wantedBy,
    publicOrigins,
    unsentAnswers,
    addressOf: (request) => requestAddress(request, trustedProxyHops),
    runVersionOperation: createLiveVersionCalls(services, callables, log),
    threadReads: createThreadReads(database, services.longReads),
    runOperation: ({ apiKey, userId, name, isAdmin, access }, call) =>
      runLiveCall({
        ...call,
        apiKey,
        user: access === 'backend' ? undefined : { userId, name, isAdmin, session: access },
      }),
  })
  metrics.addSources({
    build: { version, database: database.dialect },
    live: () => gateway.numbers,
    peers: () => peers.numbers,
    databaseSize: () => database.size(),
    isDiskFull: () => database.isDiskFull(),
    onFailure: (err) => log.warn({ err }, 'cannot read the size of the database'),
  })

  // HTTP: connections, then what applies to every request, then the routes.
  const newRequestId = createRequestIds()
  const connections = createConnections({
    requestTimeoutSeconds: config.requestTimeoutSeconds,
    trustedProxyHops,
    newRequestId,
    errorBody,
    attach: (server) => gateway.attach(server),
  })
  const app = createApp({
    config,
    log,
    metrics,
    connections,
    clock,
    newRequestId,
    isDraining: () => isDraining,
  })
  mountBodyParsers(app, limits)
  const checkApiKey = createApiKeyCheck({
    publicOrigins,
    rateLimits,
    allowedDomains: (apiKey) => domains.all(database.read, apiKey),
  })
  const authenticator = createAuthenticator(credentials)
  const userAuthenticator = createUserAuthenticator({
    credentials,
    userTokens,
    database,
    clock,
    signals,
  })
  mountOperations(app, {
    services,
    config,
    callables,
    authenticator,
    userAuthenticator,
    checkApiKey,
    unsentBodies: new UnsentAnswers(),
  })
  mountYSweet(app, {
    services,
    config,
    log,
    checkApiKey,
    identify: createBearerCheck(credentials, userTokens, clock),
    unsentAnswers,
    editorRefOf: parseDocId,
    docIdPattern,
    storeUpdate: (...update) => gateway.storeUpdate(...update),
  })
  mountPages(app, { database, metrics, userTokens, clock })
  mountUnsubscribe(app, { database, secrets })

  return {
    app,
    async start() {
      if (!(await userTokens.matchesSecretKey(now()))) {
        throw new ConfigError(
          'SECRET_KEY does not match this database. Use the key of the first start: from the environment, .env or the file secret.key in DATA_DIR.',
        )
      }
      await adoptServer(database)
      eventNames = await EventNames.load(database, secrets)
      peers.start()
      await signals.start()
      // Before the first request, because requests must not see what an unfinished deletion has left.
      await deletions.start()
      const address = await app.listen({
        port: config.port,
        // For `localhost` Fastify would listen on both addresses, but serve and close the second one in another way.
        host: config.host === 'localhost' ? '127.0.0.1' : config.host,
        listenTextResolver: (address) => `listening at ${address}`,
      })
      if (config.host === 'localhost') {
        await connections.listenAtSecondLoopback(app.server.address() as AddressInfo)
      }
      gateway.start()
      await jobs.start()
      housekeeping.start()
      return address
    },
    async stop() {
      isDraining = true
      const deletionsStopped = deletions.stop()
      // Before the permission provider, so that no job starts without it.
      const jobsStopped = jobs.stop()
      // A mail server that does not answer must not delay the stop. The mail is sent again after the next start.
      await mailTransport.close()
      newEvents.close()
      await gateway.drain()
      // Requests that wait for a provider are answered now.
      permissionProvider.stop()
      connections.closeAfterAnswers()
      await Promise.all([app.close(), connections.closeSecond()])
      await deletionsStopped
      await threads.close()
      await snapshots.idle()
      await jobsStopped
      await housekeeping.stop()
      await signals.stop()
      await peers.stop()
    },
    catchUp: () => signals.catchUp(),
  }
}

/** With SQLite there is one server only. */
function createServerLink(
  { redisUrl, databaseListenUrl }: Config,
  { read }: Database,
): ServerLink | undefined {
  if (redisUrl !== undefined)
    return createRedisLink({ url: redisUrl, findDatabaseId: () => databaseId(read) })
  return databaseListenUrl === undefined ? undefined : createPostgresLink({ url: databaseListenUrl })
}
