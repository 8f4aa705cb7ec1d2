import { Readable } from 'node:stream'
import { type Access, ApiError, type Operation, operations } from '@plenum/protocol'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { AllHandlers, Callers } from '../calls/call.ts'
import type { ApiKey } from '../store/api-keys.ts'
import { byteLength } from '../calls/written-json.ts'
import { type AdmissionDeps, createAdmission } from './admission.ts'
import { type Authenticator, requireOption, scopeOf } from './authenticate.ts'
import type { AnyHandler, createExecute } from '../calls/execute.ts'
import { type Answer, readIdempotencyKey } from '../calls/idempotency.ts'
import { createFieldFilter } from '../calls/ignored-fields.ts'
import { requestAddress } from './sockets/request-address.ts'
import { LoopTurns } from '../platform/turns/loop-turns.ts'
import { createValidator } from '../calls/validate.ts'

declare module 'fastify' {
  interface FastifyRequest {
    caller: Callers[Access] | undefined
    /** `family.verb`, once the credentials are looked at. */
    operation: string | undefined
  }
  interface FastifyContextConfig {
    /** `family.verb`, the name in metrics and logs. */
    operation?: string
    /** The field of `data` that is handed on unparsed when the body is large. */
    unparsedField?: string
  }
}

export interface Mount extends AdmissionDeps {
  handlers: AllHandlers
  authenticator: Authenticator
  execute: ReturnType<typeof createExecute>
}

/** The table becomes routes: limits and credentials, then the body, then its shape, then the handler. */
export function mountOperations(app: FastifyInstance, mount: Mount): void {
  const turns = new LoopTurns({ startsUntilLate: true })
  for (const [family, verbs] of Object.entries(operations) as [string, Record<string, Operation>][]) {
    for (const [verb, operation] of Object.entries(verbs)) {
      const handler = (mount.handlers as unknown as Record<string, Record<string, AnyHandler>>)[family]?.[
        verb
      ]
      if (!handler) throw new Error(`${family}.${verb} has no handler.`)
      mountOperation(app, mount, turns, `${family}.${verb}`, operation, handler)
    }
  }
}

function mountOperation(
  app: FastifyInstance,
  mount: Mount,
  turns: LoopTurns,
  name: string,
  operation: Operation,
  handler: AnyHandler,
) {
  const { config, execute } = mount
  const validate = createValidator(operation)
  const authenticate = createAuthentication(mount, operation)
  const bodyLimit = operation.size === 'large' ? config.limits.crdtBodyBytes : config.limits.bodyBytes

  for (const version of operation.versions) {
    const dropIgnored = createFieldFilter(operation.input, version)
    for (const path of [operation.path, ...(operation.aliases ?? [])]) {
      app.route({
        method: 'POST',
        url: `/${version}${path}`,
        bodyLimit,
        config: { operation: name, ...(operation.size === 'large' && { unparsedField: 'data' }) },
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
          const input = readInput(operation, request.body)
          const caller = request.caller ?? (await authenticate.body(request, input))
          const turn = turns.enter(scopeOf(operation.access, caller))
          if (turn) await turn
          dropIgnored?.(input)
          validate(input)
          const answer = await execute(name, operation, handler, {
            caller,
            version: version,
            input,
            bytes: Number(request.headers['content-length'] ?? bodyLimit),
            idempotencyKey:
              operation.effect === 'write'
                ? readIdempotencyKey(request.headers['idempotency-key'])
                : undefined,
            log: request.log,
          })
          return send(reply, answer)
        },
      })
    }
  }
}

function send(reply: FastifyReply, { httpStatus, body, replayed, onSent }: Answer): FastifyReply {
  if (onSent) {
    // The client may be gone already.
    if (reply.raw.closed) onSent()
    else reply.raw.once('close', onSent)
  }
  if (replayed) reply.header('idempotent-replayed', 'true')
  reply.code(httpStatus).header('content-type', 'application/json; charset=utf-8')
  if (!Array.isArray(body)) return reply.send(body)
  return reply.header('content-length', byteLength(body)).send(Readable.from(body, { objectMode: false }))
}

/** Credentials, switches and rates; judged by the headers, before a byte of the body is read. */
function createAuthentication(mount: Mount, operation: Operation) {
  const { config, authenticator, rateLimits } = mount
  const { access, requires } = operation
  const admit = createAdmission(mount)

  const admitKey = (request: FastifyRequest, caller: ApiKey): ApiKey | Promise<ApiKey> => {
    if (requires) requireOption(caller, requires)
    return admit(request.headers, caller)
  }

  const headers = {
    async public(request: FastifyRequest) {
      const address = requestAddress(request, config.trustedProxyHops)
      if (operation.rateLimit) await rateLimits.address(address)
      return { address }
    },
    async workspace(request: FastifyRequest) {
      const caller = await authenticator.workspace(request.headers, operation.path)
      if (rateLimits.counts(access)) await rateLimits.caller(access, caller)
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
  /** Where the credentials are in the body, they are judged as soon as it is read. */
  const body = async (request: FastifyRequest, input: unknown) =>
    admitKey(request, await authenticator.body(input, request.headers))
  return { headers, body }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Top-level fields that mark an unwrapped body (spec 16.1). */
const flatFields = ['organizationId', 'documentId', 'liveStateDataId']

function readInput(operation: Operation, body: unknown): Record<string, unknown> {
  if (isObject(body)) {
    if (operation.body === 'flat' && flatFields.some((field) => Object.hasOwn(body, field))) return body
    if (isObject(body.data)) return body.data
  }
  const absent = body === undefined || body === null || (isObject(body) && body.data === undefined)
  if (operation.body === 'optional' && absent) return {}
  throw new ApiError('INVALID_ARGUMENT', 'data is required.')
}
