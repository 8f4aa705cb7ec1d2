import { randomBytes } from 'node:crypto'
import type { Socket } from 'node:net'
import { ApiError } from '@plenum/protocol'
import Fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  LogController,
} from 'fastify'
import { Credentials } from './access/credentials.ts'
import { createDisposableCheck } from './access/disposable.ts'
import type { Secrets } from './access/secrets.ts'
import { createUserTokens } from './access/user-tokens.ts'
import type { Config } from './config.ts'
import type { Services } from './handler.ts'
import { createAuthenticator } from './http/authenticate.ts'
import { parseBody } from './http/body.ts'
import { allowBrowsers } from './http/cors.ts'
import { answerFailures, toApiError } from './http/errors.ts'
import { createExecute } from './http/execute.ts'
import { createRateLimits } from './http/limits.ts'
import { mountOperations } from './http/mount.ts'
import { mountPages } from './http/pages.ts'
import { createHousekeeping } from './jobs/housekeeping.ts'
import { createJobRunner } from './jobs/runner.ts'
import { handlers } from './operations/index.ts'
import type { Log } from './platform/log.ts'
import type { Metrics } from './platform/metrics.ts'
import type { Database } from './store/db.ts'
import * as domains from './store/domains.ts'

export interface Parts {
  config: Config
  database: Database
  secrets: Secrets
  metrics: Metrics
  log: Log
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
  const { config, database, secrets, metrics, log, now = Date.now } = parts
  let draining = false
  const logsRequests = config.logLevel === 'debug' || config.logLevel === 'trace'
  const app = createApp(config, log)

  const credentials = new Credentials(database, secrets.authTokenKey)
  const services: Services = {
    credentials,
    secrets,
    userTokens: createUserTokens(database, secrets),
    isDisposable: createDisposableCheck({
      extra: config.disposableDomains,
      allow: config.allowedEmailDomains,
    }),
    limits: config.limits,
    lock: database.lock,
  }
  const jobs = createJobRunner({ database, log, now, pollMs: parts.jobPollMs })
  const housekeeping = createHousekeeping({ database, log, now })

  app.decorateRequest('caller', undefined)
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id)
    if (!draining) return done()
    reply.header('connection', 'close')
    done(new ApiError('UNAVAILABLE', 'The server is shutting down.', { retryAfterSeconds: 1 }))
  })
  allowBrowsers(app)
  answerFailures(app)
  app.addHook('onResponse', (request, reply, done) => {
    const { operation } = request.routeOptions.config
    if (operation !== undefined) {
      const { statusCode: status, elapsedTime } = reply
      metrics.request(operation, status, elapsedTime / 1000)
      if (logsRequests) log.debug({ reqId: request.id, operation, status, ms: Math.round(elapsedTime) }, 'request')
    }
    done()
  })
  mountOperations(app, {
    config,
    handlers,
    authenticator: createAuthenticator(credentials),
    rateLimits: createRateLimits(config.limits),
    execute: createExecute({ database, services, now, wakeJobs: jobs.wake }),
    allowedDomains: (apiKey) => domains.all(database.read, apiKey),
  })
  mountPages(app, { database, metrics, userTokens: services.userTokens, now })

  return {
    app,
    async start() {
      const address = await app.listen({
        port: config.port,
        host: config.host,
        listenTextResolver: (address) => `listening at ${address}`,
      })
      await jobs.start()
      housekeeping.start()
      return address
    },
    async stop() {
      draining = true
      await app.close()
      await jobs.stop()
      await housekeeping.stop()
    },
  }
}

function createApp(config: Config, log: Log): FastifyInstance {
  const run = randomBytes(4).toString('hex')
  let requests = 0
  const app = Fastify({
    loggerInstance: log as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true }),
    // One logger for all: a child for every request costs more than the lines that name their request themselves.
    childLoggerFactory: (logger) => logger,
    genReqId: () => `${run}-${(++requests).toString(36)}`,
    bodyLimit: config.limits.bodyBytes,
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    connectionTimeout: 60_000,
    keepAliveTimeout: 72_000,
    requestTimeout: 30_000,
    routerOptions: { maxParamLength: 300 },
    http: { headersTimeout: 10_000, maxHeaderSize: 16_384, connectionsCheckingInterval: 2_000 },
    frameworkErrors: (error, _request, reply) => {
      const failure = toApiError(error)
      void (reply as FastifyReply).code(failure.httpStatus).send(failure.toBody())
    },
    clientErrorHandler: (error, socket) => refuseRaw(error as NodeJS.ErrnoException, socket as Socket),
  })
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (_request, body, done) => {
    try {
      done(null, parseBody(body as string, config.limits.jsonDepth))
    } catch (error) {
      done(error as Error)
    }
  })
  return app
}

/** What is not HTTP, too slow or too large gets an envelope as well, and the connection ends. */
function refuseRaw(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const [line, message] =
    error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
      ? ['408 Request Timeout', 'The request took too long to arrive.']
      : error.code === 'HPE_HEADER_OVERFLOW'
        ? ['431 Request Header Fields Too Large', 'Request headers are too large.']
        : ['400 Bad Request', 'Malformed request.']
  const body = JSON.stringify(new ApiError('INVALID_ARGUMENT', message).toBody())
  socket.end(
    `HTTP/1.1 ${line}\r\ncontent-type: application/json; charset=utf-8\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
  )
}
