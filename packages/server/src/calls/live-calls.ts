import { ApiError } from '@plenum/protocol'
import type { Log } from '../platform/log/log.ts'
import { joinedBody } from './answers/encoded-json.ts'
import type { CallingUser } from './call.ts'
import type { CallableOperations } from './callable-operations.ts'
import { requireOption } from './required-option.ts'
import { runCall } from './run-call.ts'
import type { Services } from './services.ts'

interface LiveCall {
  /** `family.verb`. */
  operation: string
  apiKey: string
  /** Undefined: the socket belongs to a backend. */
  user: CallingUser | undefined
  /** JSON. */
  input: string
  idempotencyKey: string | undefined
  bytes: number
  abandoned: AbortSignal
}

type LiveAnswer = { result: Buffer; onSent?: (() => void) | undefined } | { error: ApiError }

/** `{"result":` is in front of the result, and `}` behind it. */
const prefix = '{"result":'

/** Runs the operations that users may call for clients on sockets, with the checks and transactions of REST. */
export function createLiveCalls(services: Services, callables: CallableOperations, log: Log) {
  return async ({
    operation,
    apiKey,
    user,
    input,
    idempotencyKey,
    bytes,
    abandoned,
  }: LiveCall): Promise<LiveAnswer> => {
    const callable = callables.get(operation)
    if (callable?.declaration.access !== 'user') {
      throw new ApiError('NOT_FOUND', 'There is no such operation that users can call.')
    }
    const key = await services.credentials.apiKey(apiKey)
    if (!key) throw new ApiError('UNAUTHENTICATED', 'The API key does not exist any more.')
    const { requires } = callable.declaration
    if (requires) requireOption(key.caller, requires)
    const { rateLimits } = services
    if (rateLimits.isLimited('user')) await rateLimits.checkCaller('user', key.caller)
    if (user) await rateLimits.checkUser(key.caller, user.userId)
    const caller = user ? { ...key.caller, user } : key.caller
    const data: unknown = JSON.parse(input)
    const request = {
      callable,
      version: 'v2',
      caller,
      input: data,
      idempotencyKey,
      bytes,
      log,
      abandoned,
    } as const
    const { httpStatus, body, onSent } = await runCall(services, request)
    const joined = joinedBody(body)
    if (httpStatus === 200) {
      const bytes = typeof joined === 'string' ? Buffer.from(joined) : joined
      return { result: bytes.subarray(prefix.length, -1), onSent }
    }
    onSent?.()
    const { error } = JSON.parse(joined.toString()) as {
      error: { status: never; message: string; details?: unknown }
    }
    return { error: new ApiError(error.status, error.message, { details: error.details }) }
  }
}
