import type { ClientMessage } from '@plenum/protocol/realtime'
import type { Operations } from '../../operations/index.ts'
import type { CallOptions, Result } from '../../platform/call.ts'
import { randomIdempotencyKey } from '../../platform/idempotency-key.ts'
import { PendingRequests, type PendingRequestsDeps } from '../pending-requests.ts'

/** The operations that users can call, by family. */
export type UserOperations = Pick<
  Operations,
  'activities' | 'commentAnnotations' | 'comments' | 'events' | 'notifications'
> & { documents: Pick<Operations['documents'], 'list'>; users: Pick<Operations['users'], 'list'> }

type CallMessage = Omit<ClientMessage & { type: 'call' }, 'id'>

/**
 * Calls of operations on the socket. A call that was not answered before the connection was lost is sent again: with its
 * idempotency key, a write runs once.
 */
export class SocketCalls {
  readonly operations: UserOperations
  readonly requests: PendingRequests<CallMessage>

  constructor(deps: PendingRequestsDeps<CallMessage>) {
    this.requests = new PendingRequests(deps)
    this.operations = createOperations((operation, input, options) => this.#call(operation, input, options))
  }

  async #call(operation: string, input: object, options: CallOptions): Promise<unknown> {
    const { idempotencyKey = randomIdempotencyKey(), signal } = options
    const message = {
      type: 'call',
      operation,
      input: input as Record<string, unknown>,
      idempotencyKey,
    } as const
    const { result } = await this.requests.send(message, signal)
    const { status: _, ...answer } = result as unknown as { status: string } & Result<unknown>
    return answer
  }
}

type Run = (operation: string, input: object, options: CallOptions) => Promise<unknown>

/** Every family and verb is a method: the server knows which operations exist, so the client need not. */
function createOperations(run: Run): UserOperations {
  const familyOf = (family: string) =>
    new Proxy(
      {},
      {
        get:
          (_, verb: string) =>
          (input: object = {}, options: CallOptions = {}) =>
            run(`${family}.${verb}`, input, options),
      },
    )
  return new Proxy({}, { get: (_, family: string) => familyOf(family) }) as UserOperations
}
