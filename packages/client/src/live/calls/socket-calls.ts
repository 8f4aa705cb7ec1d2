import { ApiError } from '@plenum/protocol/errors'
import type { ClientMessage, ServerMessage } from '@plenum/protocol/realtime'
import type { Operations } from '../../operations/index.ts'
import type { CallOptions, Result } from '../../platform/call.ts'
import { randomIdempotencyKey } from '../../platform/idempotency-key.ts'

/** The operations that users can call, by family. */
export type UserOperations = Pick<Operations, 'commentAnnotations' | 'comments' | 'events'>

type Done = ServerMessage & { type: 'done' }
type CallMessage = Omit<ClientMessage & { type: 'call' }, 'id'>

interface SocketCallsDeps {
  /** Why nothing can be sent any more. */
  failure(): ApiError | undefined
  /** Returns false if the call cannot be sent now. `onOutcome` is then never called. */
  request(message: CallMessage, onOutcome: (outcome: Done | ApiError) => void): boolean
}

interface PendingCall {
  message: CallMessage
  isSent: boolean
  settle(outcome: Done | ApiError): void
}

/**
 * Calls of operations on the socket. A call that was not answered before the connection was lost is sent again: with its
 * idempotency key, a write runs once.
 */
export class SocketCalls {
  readonly operations: UserOperations
  readonly #deps: SocketCallsDeps
  readonly #calls = new Set<PendingCall>()

  constructor(deps: SocketCallsDeps) {
    this.#deps = deps
    this.operations = createOperations((operation, input, options) => this.#call(operation, input, options))
  }

  #call(operation: string, input: object, { idempotencyKey, signal }: CallOptions): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const failure = this.#deps.failure()
      if (failure) return reject(failure)
      if (signal?.aborted) return reject(signal.reason as Error)
      const settle = (outcome: Done | ApiError) => {
        if (!this.#calls.delete(call)) return
        if (outcome instanceof ApiError) return reject(outcome)
        const { status: _, ...result } = outcome.result as unknown as { status: string } & Result<unknown>
        resolve(result)
      }
      const message: CallMessage = {
        type: 'call',
        operation,
        input: input as Record<string, unknown>,
        idempotencyKey: idempotencyKey ?? randomIdempotencyKey(),
      }
      const call: PendingCall = { message, isSent: false, settle }
      this.#calls.add(call)
      signal?.addEventListener('abort', () => {
        if (this.#calls.delete(call)) reject(signal.reason as Error)
      })
      this.flush()
    })
  }

  /** Sends the waiting calls, if they can be sent now. */
  flush(): void {
    for (const call of this.#calls) {
      if (!call.isSent) call.isSent = this.#deps.request(call.message, (outcome) => call.settle(outcome))
    }
  }

  onLost(): void {
    for (const call of this.#calls) call.isSent = false
  }

  rejectAll(error: ApiError): void {
    for (const call of this.#calls) call.settle(error)
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
