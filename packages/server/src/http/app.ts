import { ApiError } from '@plenum/protocol'
import Fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  LogController,
} from 'fastify'
import type { Config } from '../config.ts'
import type { Clock } from '../platform/clock.ts'
import type { Log } from '../platform/log/log.ts'
import type { Metrics } from '../platform/metrics/metrics.ts'
import { answerHeaders } from './answer-headers.ts'
import { limitAnswerTime } from './answer-time.ts'
import { answerBrowser } from './cors.ts'
import { answerFailures, toApiError } from './errors.ts'
import type { Connections } from './sockets/connections.ts'

interface AppDeps {
  config: Config
  log: Log
  metrics: Metrics
  connections: Connections
  clock: Clock
  newRequestId: () => string
  isDraining: () => boolean
}

/** The HTTP framework with everything that applies to all requests. `server.ts` adds the body parsers and the routes. */
export function createApp(deps: AppDeps): FastifyInstance {
  const { config, log, connections, newRequestId } = deps
  const app = Fastify({
    loggerInstance: log as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true }),
    // One logger for all requests: log lines name their request themselves, which is cheaper than a logger for each request.
    childLoggerFactory: (logger) => logger,
    genReqId: newRequestId,
    bodyLimit: config.limits.bodyBytes,
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    routerOptions: { maxParamLength: 300 },
    // No route has a schema: operations check their input themselves. Loading Fastify's own compilers would take time.
    schemaController: { compilersFactory: { buildValidator: noSchemas, buildSerializer: noSchemas } },
    serverFactory: (handler) => connections.create(handler),
    clientErrorHandler: (error, socket) => connections.refuse(error, socket),
    frameworkErrors: (error, request, reply) => {
      const failure = toApiError(error)
      void (reply as FastifyReply)
        .headers({ ...answerHeaders, 'x-request-id': request.id })
        .code(failure.httpStatus)
        .send(failure.toBody())
    },
  })
  app.decorateRequest('caller', undefined)
  app.decorateRequest('operationName', undefined)
  app.decorateRequest('abandoned', undefined)
  app.decorateReply('countedStatus', undefined)
  checkEveryRequest(app, deps)
  answerFailures(app)
  observeEveryResponse(app, deps)
  return app
}

const noSchemas = () => {
  throw new Error('A route must not have a schema.')
}

/** What comes before everything else: the request id, then the checks for shutdown and `Host`, then CORS. */
function checkEveryRequest(app: FastifyInstance, { clock, isDraining }: AppDeps): void {
  app.addHook('onRequest', (request, reply, done) => {
    reply.headers(answerHeaders).header('x-request-id', request.id)
    limitAnswerTime(clock, request, reply)
    if (isDraining()) {
      reply.header('connection', 'close')
      return done(new ApiError('UNAVAILABLE', 'The server is shutting down.', { retryAfterSeconds: 1 }))
    }
    if (request.headers.host === undefined && request.raw.httpVersion === '1.1') {
      return done(new ApiError('INVALID_ARGUMENT', 'Malformed request.'))
    }
    const { origin } = request.headers
    if (origin === undefined || !answerBrowser(origin, request, reply)) done()
  })
}

function observeEveryResponse(app: FastifyInstance, { config, log, metrics }: AppDeps): void {
  const logsRequests = config.logLevel === 'debug' || config.logLevel === 'trace'
  app.addHook('onResponse', (request, reply, done) => {
    // Fastify builds `routeOptions` on each access, so it is read only if the route has not set the name: for requests that
    // were refused early, and for pages.
    const operation = request.operationName ?? request.routeOptions.config.operationName
    if (operation !== undefined) {
      const { statusCode: status, elapsedTime } = reply
      metrics.request(operation, reply.countedStatus ?? status, elapsedTime / 1000)
      if (logsRequests)
        log.debug({ reqId: request.id, operation, status, ms: Math.round(elapsedTime) }, 'request')
    }
    done()
  })
}
