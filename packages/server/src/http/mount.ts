import { Readable } from 'node:stream'
import { type Access, ApiError, type Operation } from '@plenum/protocol'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Answer } from '../calls/answer.ts'
import type { Callers } from '../calls/call.ts'
import type { CallableOperation, CallableOperations } from '../calls/callable-operations.ts'
import { callerScope } from '../calls/caller-scope.ts'
import { byteLength } from '../calls/encoded-json.ts'
import { runCall } from '../calls/run-call.ts'
import type { Services } from '../calls/services.ts'
import type { Config } from '../config.ts'
import type { ApiKey } from '../store/api-keys.ts'
import type { Admission } from './admission.ts'
import { type Authenticator, requireOption } from './authenticate.ts'
import { requestAddress } from './sockets/request-address.ts'
import { StartQueue } from '../platform/turns/start-queue.ts'

declare module 'fastify' {
  interface FastifyRequest {
    caller: Callers[Access] | undefined
    /** `family.verb`, set before the credentials are checked. */
    operation: string | undefined
  }
  interface FastifyContextConfig {
    /** `family.verb`, the name in metrics and logs. */
    operation?: string
    /** The field of `data` that stays unparsed when the body is large. */
    unparsedField?: string
  }
}

export interface MountDeps {
  services: Services
  config: Config
  callables: CallableOperations
  authenticator: Authenticator
  admission: Admission
}

/** Makes routes of the operation table. Each checks limits and credentials, then reads the body, then runs the call. */
export function mountOperations(app: FastifyInstance, deps: MountDeps): void {
  const turns = new StartQueue({ startsUntilLate: true })
  for (const operation of deps.callables.values()) mountOperation(app, deps, turns, operation)
}

function mountOperation(
  app: FastifyInstance,
  deps: MountDeps,
  turns: StartQueue,
  operation: CallableOperation,
) {
  const { services, config } = deps
  const { name, declaration } = operation
  const authenticate = createAuthentication(deps, declaration)
  const isLarge = declaration.size === 'large'
  const bodyLimit = isLarge ? config.limits.crdtBodyBytes : config.limits.bodyBytes

  for (const version of declaration.versions) {
    for (const path of [declaration.path, ...(declaration.aliases ?? [])]) {
      app.route({
        method: 'POST',
        url: `/${version}${path}`,
        bodyLimit,
        config: { operation: name, ...(isLarge && { unparsedField: 'data' }) },
        onRequest: (request, _reply, done) => {
          request.operation = name
          try {
            const caller = authenticate.headers(request)
            if (!(caller instanceof Promise)) {
              request.caller = caller
              return done()
            }
            caller.then((found) => {
              request.caller = found
              done()
            }, done)
          } catch (error) {
            done(error as Error)
          }
        },
        handler: async (request, reply) => {
          const input = readInput(declaration, request.body)
          const caller = request.caller ?? (await authenticate.body(request, input))
          const turn = turns.enter(callerScope(declaration.access, caller))
          if (turn) await turn
          const answer = await runCall(services, {
            operation,
            version,
            caller,
            input,
            bytes: Number(request.headers['content-length'] ?? bodyLimit),
            idempotencyKey: request.headers['idempotency-key'],
            log: request.log,
          })
          return send(reply, answer)
        },
      })
    }
  }
}

function send(reply: FastifyReply, { httpStatus, body, isReplayed, onSent }: Answer): FastifyReply {
  if (onSent) {
    // The client may have disconnected already.
    if (reply.raw.closed) onSent()
    else reply.raw.once('close', onSent)
  }
  if (isReplayed) reply.header('idempotent-replayed', 'true')
  reply.code(httpStatus).header('content-type', 'application/json; charset=utf-8')
  if (!Array.isArray(body)) return reply.send(body)
  return reply.header('content-length', byteLength(body)).send(Readable.from(body, { objectMode: false }))
}

/** Checks credentials, options and rate limits by the headers, before a byte of the body is read. */
function createAuthentication(deps: MountDeps, operation: Operation) {
  const { config, authenticator, admission, services } = deps
  const { rateLimits } = services
  const { access, requires } = operation

  const admitKey = (request: FastifyRequest, caller: ApiKey): ApiKey | Promise<ApiKey> => {
    if (requires) requireOption(caller, requires)
    return admission(request.headers, caller)
  }

  const headers = {
    async public(request: FastifyRequest) {
      const address = requestAddress(request, config.trustedProxyHops)
      if (operation.rateLimit) await rateLimits.checkAddress(address)
      return { address }
    },
    async workspace(request: FastifyRequest) {
      const caller = await authenticator.workspace(request.headers, operation.path)
      if (rateLimits.isLimited(access)) await rateLimits.checkCaller(access, caller)
      return caller
    },
    apiKey(request: FastifyRequest) {
      const caller = authenticator.apiKey(request.headers)
      return caller instanceof Promise
        ? caller.then((found) => admitKey(request, found))
        : admitKey(request, caller)
    },
    body: () => undefined,
  }[access]
  /** Credentials inside the body are checked as soon as it is read. */
  const body = async (request: FastifyRequest, input: unknown) =>
    admitKey(request, await authenticator.body(input, request.headers))
  return { headers, body }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Top-level fields that mark a body without the wrapper `data` (spec 16.1). */
const flatFields = ['organizationId', 'documentId', 'liveStateDataId']

function readInput(operation: Operation, body: unknown): Record<string, unknown> {
  if (isObject(body)) {
    if (operation.body === 'flat' && flatFields.some((field) => Object.hasOwn(body, field))) return body
    if (isObject(body.data)) return body.data
  }
  const isAbsent = body === undefined || body === null || (isObject(body) && body.data === undefined)
  if (operation.body === 'optional' && isAbsent) return {}
  throw new ApiError('INVALID_ARGUMENT', 'data is required.')
}
