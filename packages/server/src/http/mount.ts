import type { ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { type Access, ApiError, type ApiVersion, type Operation } from '@plenum/protocol'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Answer } from '../calls/answers/answer.ts'
import type { Callers } from '../calls/call.ts'
import type { CallableOperation, CallableOperations } from '../calls/callable-operations.ts'
import { callerLane } from '../calls/caller-scope.ts'
import { byteLength } from '../calls/answers/encoded-json.ts'
import { runCall } from '../calls/run-call.ts'
import type { Services } from '../calls/services.ts'
import type { Config } from '../config.ts'
import type { ApiKey } from '../store/api-keys.ts'
import type { ApiKeyCheck } from './api-key-check.ts'
import { requireOption } from '../calls/required-option.ts'
import type { Authenticator } from './authenticate.ts'
import { hasUserToken, type UserAuthenticator } from './user-authenticator.ts'
import { requestAddress } from './sockets/request-address.ts'
import { afterArrivals } from '../platform/turns/after-arrivals.ts'
import type { Requester } from '../platform/turns/in-progress.ts'
import { StartQueue } from '../platform/turns/start-queue.ts'
import type { UnsentAnswers } from '../platform/turns/unsent-answers.ts'
import { countUntilSent, limitStall } from './unsent-bodies.ts'

declare module 'fastify' {
  interface FastifyRequest {
    caller: Callers[Access] | undefined
    /** `family.verb`. The route sets it before it checks the credentials. */
    operationName: string | undefined
  }
  interface FastifyReply {
    /** The status that metrics count, where it differs from the status of the answer. */
    countedStatus: number | undefined
  }
  interface FastifyContextConfig {
    /** `family.verb`: the name in metrics and logs. */
    operationName?: string
    /** Whether the field `data` inside `data` stays unparsed when the body is large: it is CRDT data. */
    keepsDataUnparsed?: boolean
  }
}

export interface MountDeps {
  services: Services
  config: Config
  callables: CallableOperations
  authenticator: Authenticator
  checkApiKey: ApiKeyCheck
  userAuthenticator: UserAuthenticator
  /** Apart from those of sockets, so that neither take the space of the others. */
  unsentBodies: UnsentAnswers
}

/** Adds a route for each operation. A route checks credentials and limits, then reads the body, then runs the call. */
export function mountOperations(app: FastifyInstance, deps: MountDeps): void {
  const turns = new StartQueue({ startsUntilLate: true })
  for (const callable of deps.callables.values()) mountOperation(app, deps, turns, callable)
}

function mountOperation(
  app: FastifyInstance,
  deps: MountDeps,
  turns: StartQueue,
  callable: CallableOperation,
) {
  const { services, config, unsentBodies } = deps
  const { name: operationName, declaration } = callable
  const checkCaller = createCallerCheck(deps, declaration)
  const isLarge = declaration.size === 'large'
  const bodyLimit = isLarge ? config.limits.crdtBodyBytes : config.limits.bodyBytes

  const answerTo = async (request: FastifyRequest, reply: FastifyReply, version: ApiVersion) => {
    const input = readInput(declaration, request.body)
    const caller = request.caller ?? (await checkCaller.byBody(request, input))
    // Only SQLite: on PostgreSQL, requests have already waited together for the query of their credentials.
    if (services.database.exclusive) await afterArrivals()
    const turn = turns.enter(callerLane(declaration.access, caller))
    if (turn) await turn
    const { abandoned } = request
    abandoned?.throwIfAborted()
    const answer = await runCall(services, {
      callable,
      version,
      caller,
      input,
      bytes: Number(request.headers['content-length'] ?? bodyLimit),
      idempotencyKey: request.headers['idempotency-key'],
      log: request.log,
      abandoned,
    })
    if (!reply.sent) return send(reply, answer, caller, unsentBodies)
    answer.onSent?.()
    return reply
  }

  for (const version of declaration.versions) {
    for (const path of [declaration.path, ...(declaration.aliases ?? [])]) {
      app.route({
        method: 'POST',
        url: `/${version}${path}`,
        bodyLimit,
        config: { operationName, keepsDataUnparsed: isLarge },
        onRequest: (request, _reply, done) => {
          request.operationName = operationName
          try {
            const caller = checkCaller.byHeaders(request)
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
          try {
            return await answerTo(request, reply, version)
          } catch (error) {
            // The caller got another answer, because this one came too late.
            if (!reply.sent) throw error
            return reply
          }
        },
      })
    }
  }
}

/** Smaller bodies are in the buffers of the connection, which are limited. */
const minCountedBytes = 64 * 1024

function send(
  reply: FastifyReply,
  answer: Answer,
  caller: Callers[Access],
  unsent: UnsentAnswers,
): FastifyReply {
  const { httpStatus, body, isReplayed, onSent } = answer
  reply.countedStatus = answer.countedStatus
  const isLarge = Array.isArray(body) || body.length > minCountedBytes
  // The client may have disconnected already.
  if (isLarge && onSent && !reply.raw.closed) reply.raw.once('close', onSent)
  else onSent?.()
  if (isReplayed) reply.header('idempotent-replayed', 'true')
  reply.code(httpStatus).header('content-type', 'application/json; charset=utf-8')
  if (!Array.isArray(body)) {
    if (isLarge && 'apiKey' in caller) countBody(reply.raw, body.length, caller, unsent)
    return reply.send(body)
  }
  // Answers in pieces are large, and few of an API key may be open.
  limitStall(reply.raw)
  return reply.header('content-length', byteLength(body)).send(Readable.from(body, { objectMode: false }))
}

/** Counts the bytes until they are sent. If the API key has too many, the user with the most answers loses the oldest. */
function countBody(
  response: ServerResponse,
  length: number,
  { apiKey, user }: Requester,
  unsent: UnsentAnswers,
): void {
  const cut = () => void response.destroy()
  countUntilSent(unsent, response, { apiKey, userId: user?.userId ?? '', body: { length }, cut })
  unsent.cutExcess()
}

/** Finds the caller of an operation by the credentials of the request, then checks its options, rate limit and domain. */
function createCallerCheck(deps: MountDeps, declaration: Operation) {
  const { config, authenticator, userAuthenticator, checkApiKey, services } = deps
  const { rateLimits } = services
  const { access, requires } = declaration

  const checkOptionAndLimits = (request: FastifyRequest, caller: ApiKey): ApiKey | Promise<ApiKey> => {
    if (requires) requireOption(caller, requires)
    return checkApiKey(request.headers, caller)
  }

  /** Runs before a byte of the body is read. Returns undefined if the credentials are in the body. */
  const byHeaders: Record<
    Access,
    (request: FastifyRequest) => Callers[Access] | Promise<Callers[Access]> | undefined
  > = {
    async public(request: FastifyRequest) {
      const address = requestAddress(request, config.trustedProxyHops)
      await rateLimits.checkAddress(declaration, address)
      return { address }
    },
    async workspace(request: FastifyRequest) {
      const caller = await authenticator.workspace(request.headers, declaration.path)
      if (rateLimits.isLimited(access)) await rateLimits.checkCaller(access, caller)
      return caller
    },
    apiKey(request: FastifyRequest) {
      const caller = authenticator.apiKey(request.headers)
      return caller instanceof Promise
        ? caller.then((found) => checkOptionAndLimits(request, found))
        : checkOptionAndLimits(request, caller)
    },
    user(request: FastifyRequest) {
      if (!hasUserToken(request.headers)) return byHeaders.apiKey(request)
      return userAuthenticator(request.headers).then(async (caller) => {
        await checkOptionAndLimits(request, caller)
        if (caller.user) await rateLimits.checkUser(caller, caller.user.userId)
        return caller
      })
    },
    body: () => undefined,
  }
  const byBody = async (request: FastifyRequest, input: unknown) =>
    checkOptionAndLimits(request, await authenticator.body(input, request.headers))
  return { byHeaders: byHeaders[access], byBody }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Top-level fields that mark a body without the wrapper `data` (spec 16.1). */
const flatFields = ['organizationId', 'documentId', 'liveStateDataId']

/** The input of an operation: the object `data` of the body, or the body itself if the operation allows that. */
function readInput(declaration: Operation, body: unknown): Record<string, unknown> {
  if (isObject(body)) {
    if (declaration.body === 'flat' && flatFields.some((field) => Object.hasOwn(body, field))) return body
    if (isObject(body.data)) return body.data
  }
  const isAbsent = body === undefined || body === null || (isObject(body) && body.data === undefined)
  if (declaration.body === 'optional' && isAbsent) return {}
  throw new ApiError('INVALID_ARGUMENT', 'data is required.')
}
