import { ApiError, operations } from '@plenum/protocol'
import type { Log } from '../platform/log/log.ts'
import type { LiveClient } from './call-request.ts'
import type { CallableOperation, CallableOperations } from './callable-operations.ts'
import { runCall } from './run-call.ts'
import type { Services } from './services.ts'

interface VersionCall extends LiveClient {
  verb: keyof typeof operations.crdtVersions
  apiKey: string
  input: object
  /** The size of the message. */
  bytes: number
}

/** The `result` of the operation's answer. */
interface VersionResult {
  data: never
  nextPageToken?: string
}

/** Runs the operations on versions for live clients, with the same checks, limits and transactions as REST. */
export function createClientVersions(services: Services, callables: CallableOperations, log: Log) {
  return async ({ verb, apiKey, input, bytes, ...client }: VersionCall): Promise<VersionResult> => {
    const operation = callables.get(`crdtVersions.${verb}`) as CallableOperation
    const { access, effect } = operation.declaration
    const key = await services.credentials.apiKey(apiKey)
    if (!key) throw new ApiError('UNAUTHENTICATED', 'The API key does not exist any more.')
    const { caller } = key
    const { rateLimits } = services
    if (effect === 'write' && rateLimits.isLimited(access)) await rateLimits.checkCaller(access, caller)
    const request = { operation, version: 'v2', caller, input, bytes, log, client } as const
    const { body, onSent } = await runCall(services, request)
    onSent?.()
    // Pages of clients are small, so parsing one costs little.
    const text = Array.isArray(body) ? Buffer.concat(body) : body
    return (JSON.parse(text.toString()) as { result: VersionResult }).result
  }
}
