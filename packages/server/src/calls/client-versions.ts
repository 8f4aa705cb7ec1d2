import { ApiError, type Operation, operations } from '@plenum/protocol'
import type { Credentials } from '../access/credentials.ts'
import type { AllHandlers } from './call.ts'
import type { Log } from '../platform/log/log.ts'
import type { AnyHandler, createExecute, LiveClient } from './execute.ts'
import type { RateLimits } from './limits.ts'
import { createValidator } from './validate.ts'

export interface ClientVersionsDeps {
  handlers: AllHandlers
  execute: ReturnType<typeof createExecute>
  credentials: Credentials
  rateLimits: RateLimits
  log: Log
}

interface VersionCall extends LiveClient {
  verb: keyof typeof operations.crdtVersions
  apiKey: string
  input: object
  /** The size of the message. */
  bytes: number
}

/** What the answer to the operation holds. */
interface Answered {
  data: never
  nextPageToken?: string
}

/** Runs the operations on versions for live clients, with the checks, limits and transactions of REST. */
export function createClientVersions({
  handlers,
  execute,
  credentials,
  rateLimits,
  log,
}: ClientVersionsDeps) {
  const validators = new Map(
    Object.entries(operations.crdtVersions).map(([verb, operation]) => [verb, createValidator(operation)]),
  )
  return async ({ verb, apiKey, input, bytes, ...client }: VersionCall): Promise<Answered> => {
    const operation: Operation = operations.crdtVersions[verb]
    const key = await credentials.apiKey(apiKey)
    if (!key) throw new ApiError('UNAUTHENTICATED', 'The API key does not exist any more.')
    const { caller } = key
    if (operation.effect === 'write' && rateLimits.counts(operation.access)) {
      await rateLimits.caller(operation.access, caller)
    }
    validators.get(verb)?.(input)
    const handler = handlers.crdtVersions[verb] as AnyHandler
    const request = { caller, version: 'v2', input, bytes, idempotencyKey: undefined, log, client } as const
    const { body, onSent } = await execute(`crdtVersions.${verb}`, operation, handler, request)
    onSent?.()
    // Pages of clients are small, so to parse one costs little.
    const text = Array.isArray(body) ? Buffer.concat(body) : body
    return (JSON.parse(text.toString()) as { result: Answered }).result
  }
}
