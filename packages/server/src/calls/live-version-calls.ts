import { ApiError, operations } from '@plenum/protocol'
import type { Log } from '../platform/log/log.ts'
import { joinedBody } from './answers/encoded-json.ts'
import type { LiveClient } from './call-request.ts'
import type { CallableOperation, CallableOperations } from './callable-operations.ts'
import { runCall } from './run-call.ts'
import type { Services } from './services.ts'

interface LiveVersionCall extends LiveClient {
  /** The operation of the family `crdtVersions`. */
  verb: keyof typeof operations.crdtVersions
  apiKey: string
  input: object
  /** The size of the socket message. */
  bytes: number
}

/** The field `result` of the operation's answer. */
interface VersionResult {
  data: never
  nextPageToken?: string
}

/**
 * Runs the operations on editor versions for clients on sockets, with the checks and transactions of REST. Only their writes
 * count towards the rate limit of the API key.
 */
export function createLiveVersionCalls(services: Services, callables: CallableOperations, log: Log) {
  return async ({ verb, apiKey, input, bytes, ...client }: LiveVersionCall): Promise<VersionResult> => {
    const callable = callables.get(`crdtVersions.${verb}`) as CallableOperation
    const { access, effect } = callable.declaration
    const key = await services.credentials.apiKey(apiKey)
    if (!key) throw new ApiError('UNAUTHENTICATED', 'The API key does not exist any more.')
    const { caller } = key
    const { rateLimits } = services
    if (effect === 'write' && rateLimits.isLimited(access)) await rateLimits.checkCaller(access, caller)
    const request = { callable, version: 'v2', caller, input, bytes, log, client } as const
    const { body, onSent } = await runCall(services, request)
    onSent?.()
    // Clients ask for small pages, so parsing an answer costs little.
    return (JSON.parse(joinedBody(body).toString()) as { result: VersionResult }).result
  }
}
