import { randomBytes } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import { ApiError } from '@plenum/protocol'
import Fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  LogController,
} from 'fastify'
import { Credentials } from './access/credentials.ts'
import { Deletions } from './access/deletions.ts'
import { createDisposableCheck } from './access/domains/disposable.ts'
import type { Secrets } from './access/tokens/secrets.ts'
import { createUserTokens } from './access/tokens/user-tokens.ts'
import { type Config, ConfigError } from './config.ts'
import { createStoredDocuments } from './crdt/stored-documents.ts'
import type { Services } from './calls/call.ts'
import { createAuthenticator } from './http/authenticate.ts'
import { createBearerCheck } from './http/y-sweet/bearer.ts'
import { mountBodyParsers } from './http/bodies/body-parsers.ts'
import { type Connections, createConnections } from './http/sockets/connections.ts'
import { createClientVersions } from './calls/client-versions.ts'
import { answerBrowser } from './http/cors.ts'
import { answerFailures, toApiError } from './http/errors.ts'
import { createExecute } from './calls/execute.ts'
import { createRateLimits } from './calls/limits.ts'
import { mountOperations } from './http/mount.ts'
import { mountPages } from './http/pages/pages.ts'
import { requestAddress } from './http/sockets/request-address.ts'
import { mountYSweet } from './http/y-sweet/y-sweet.ts'
import { createHousekeeping } from './jobs/housekeeping.ts'
import { createJobRunner } from './jobs/runner.ts'
import { handlers } from './operations/index.ts'
import { type Bus, createMemoryBus } from './platform/bus.ts'
import { type Clock, systemClock } from './platform/clock.ts'
import type { Log } from './platform/log/log.ts'
import { LongReads } from './platform/turns/long-reads.ts'
import { UnsentAnswers } from './platform/turns/unsent-answers.ts'
import type { Metrics } from './platform/metrics/metrics.ts'
import { DocumentThreads } from './crdt/document-threads.ts'
import { startWorker } from './platform/threads/worker.ts'
import { createGateway } from './realtime/index.ts'
import { docIdPattern, placeOfDocId } from './realtime/documents/place.ts'
import type { Database } from './store/engine/db.ts'
import * as domains from './store/domains.ts'
import { SnapshotWriter } from './store/editors/snapshot-writer.ts'
import { version } from './start/version.ts'

export interface Parts {
  config: Config
  database: Database
  secrets: Secrets
  metrics: Metrics
  log: Log
  /** Within this process unless given. */
  bus?: Bus
  now?: () => number
  /** How often postponed jobs are looked for. */
  jobPollMs?: number
}

export interface Server {
  app: FastifyInstance
  /** Listens and begins the background work; resolves with the address. */
  start(): Promise<string>
  /** Finishes what was accepted, refuses the rest, and leaves the database to its owner. */
  stop(): Promise<void>
}

/** The server from its parts. Everything it uses is given, so that tests run the same one. */
export function createServer(parts: Parts): Server {
  const { config, database, secrets, metrics, log, now = Date.now, bus = createMemoryBus(parts.log) } = parts
  const clock: Clock = { ...systemClock, now }
  let draining = false
  const logsRequests = config.logLevel === 'debug' || config.logLevel === 'trace'
  const newRequestId = createRequestIds()

  const credentials = new Credentials(database, secrets.authTokenKey)
  const threads = new DocumentThreads(() => startWorker('worker', import.meta.url))
  const snapshots = new SnapshotWriter(database, (error) =>
    log.error({ err: error }, 'a snapshot could not be written'),
  )
  const deletions = new Deletions({
    database,
    now,
    onGone: (gone) => bus.publish({ kind: 'gone', ...gone }),
    onFinished: (apiKey) => bus.publish({ kind: 'access', apiKey }),
    onFailure: (err, { deletionId }) => log.warn({ err, deletionId }, 'a deletion failed; it is tried again'),
  })
  const services: Services = {
    snapshots,
    credentials,
    secrets,
    userTokens: createUserTokens(database, secrets),
    isDisposable: createDisposableCheck({
      extra: config.disposableDomains,
      allow: config.disposableDomainsExcept,
    }),
    limits: config.limits,
    workspaceCreation: config.workspaceCreation,
    defaultDocumentAccess: config.defaultDocumentAccess,
    storedDocuments: createStoredDocuments(threads),
    longReads: new LongReads(database.exclusive ? {} : { maxQueries: 2 }),
    lock: database.lock,
    resumeDeletions: () => void deletions.resume(),
    writeStep: (work, lane) => database.write(work, lane),
  }
  const jobs = createJobRunner({
    database,
    bus,
    log,
    clock,
    pollMs: parts.jobPollMs,
    observe: metrics.job,
    removeInSteps: (apiKey, scope, transaction) => deletions.removeWith(apiKey, scope, transaction),
  })
  const execute = createExecute({
    database,
    services,
    bus,
    now,
    wakeJobs: jobs.wake,
    deletions,
    commitsUnderWay: (apiKey) => gateway.commitsUnderWay(apiKey),
  })
  const rateLimits = createRateLimits(config.limits)
  const { userTokens } = services
  const { limits, publicOrigins, trustedProxyHops } = config
  const unsentAnswers = new UnsentAnswers()
  const gateway = createGateway({
    database,
    credentials,
    deletions,
    userTokens,
    bus,
    log,
    now,
    limits,
    threads,
    publicOrigins,
    unsentAnswers,
    addressOf: (request) => requestAddress(request, trustedProxyHops),
    runVersionOperation: createClientVersions({ handlers, execute, credentials, rateLimits, log }),
  })
  metrics.follow({
    build: { version, database: database.dialect },
    live: () => gateway.numbers,
    databaseSize: () => database.size(),
    onFailure: (err) => log.warn({ err }, 'the size of the database could not be read'),
  })
  const connections = createConnections({
    ...config,
    newRequestId,
    attach: (server) => gateway.attach(server),
  })
  const app = createApp(config, log, connections, newRequestId)
  const housekeeping = createHousekeeping({ database, log, clock, observe: metrics.job })

  app.decorateRequest('caller', undefined)
  app.decorateRequest('operation', undefined)
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id)
    if (draining) {
      reply.header('connection', 'close')
      return done(new ApiError('UNAVAILABLE', 'The server is shutting down.', { retryAfterSeconds: 1 }))
    }
    if (request.headers.host === undefined && request.raw.httpVersion === '1.1') {
      return done(new ApiError('INVALID_ARGUMENT', 'Malformed request.'))
    }
    const { origin } = request.headers
    if (origin === undefined || !answerBrowser(origin, request, reply)) done()
  })
  answerFailures(app)
  app.addHook('onResponse', (request, reply, done) => {
    // Fastify makes `routeOptions` anew each time: only for what was refused early.
    const operation = request.operation ?? request.routeOptions.config.operation
    if (operation !== undefined) {
      const { statusCode: status, elapsedTime } = reply
      metrics.request(operation, status, elapsedTime / 1000)
      if (logsRequests)
        log.debug({ reqId: request.id, operation, status, ms: Math.round(elapsedTime) }, 'request')
    }
    done()
  })
  const admission = {
    config,
    rateLimits,
    allowedDomains: (apiKey: string) => domains.all(database.read, apiKey),
  }
  mountOperations(app, {
    ...admission,
    handlers,
    authenticator: createAuthenticator(credentials),
    execute,
  })
  mountYSweet(app, {
    ...admission,
    database,
    deletions,
    services,
    now,
    log,
    identify: createBearerCheck(credentials, userTokens, now),
    unsentAnswers,
    placeOf: placeOfDocId,
    docIdPattern,
    storeUpdate: (...update) => gateway.storeUpdate(...update),
  })
  mountPages(app, { database, metrics, userTokens: services.userTokens, now })

  return {
    app,
    async start() {
      if (!(await services.userTokens.fitSecret(now()))) {
        throw new ConfigError(
          'SECRET_KEY does not fit this database. It must be the one of the first start: from the environment, .env or the file secret.key.',
        )
      }
      // Before anybody asks: what is being deleted must not be seen.
      await deletions.start()
      const address = await app.listen({
        port: config.port,
        // The framework would listen at both addresses of `localhost`, but serve and close the second one differently.
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
      draining = true
      const deletionsStopped = deletions.stop()
      await gateway.drain()
      connections.endAfterAnswers()
      await Promise.all([app.close(), connections.closeSecond()])
      await deletionsStopped
      await threads.close()
      await snapshots.idle()
      await jobs.stop()
      await housekeeping.stop()
    },
  }
}

/** Short, and different after each start. */
function createRequestIds(): () => string {
  const run = randomBytes(4).toString('hex')
  let requests = 0
  return () => `${run}-${(++requests).toString(36)}`
}

function createApp(
  config: Config,
  log: Log,
  connections: Connections,
  newRequestId: () => string,
): FastifyInstance {
  const app = Fastify({
    loggerInstance: log as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true }),
    // One logger for all: a child for every request costs more than the lines that name their request themselves.
    childLoggerFactory: (logger) => logger,
    genReqId: newRequestId,
    bodyLimit: config.limits.bodyBytes,
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    routerOptions: { maxParamLength: 300 },
    serverFactory: (handler) => connections.create(handler),
    clientErrorHandler: (error, socket) => connections.refuse(error, socket),
    frameworkErrors: (error, request, reply) => {
      const failure = toApiError(error)
      void (reply as FastifyReply)
        .header('x-request-id', request.id)
        .code(failure.httpStatus)
        .send(failure.toBody())
    },
  })
  mountBodyParsers(app, config.limits)
  return app
}
