import { ApiError } from '@plenum/protocol'
import type { Log } from '../../platform/log/log.ts'
import { StartQueue } from '../../platform/turns/start-queue.ts'
import type { Identity } from '../authorization/identity.ts'

/** A call of an operation by a client. */
export interface OperationCallInput {
  /** `family.verb`. */
  operation: string
  /** JSON. */
  input: string
  idempotencyKey: string | undefined
  /** The size of the message. */
  bytes: number
  /** Aborted when nobody waits for the answer any more. */
  abandoned: AbortSignal
}

/** The JSON of the answer's `result`, or why the call failed. */
export type CallAnswer = { result: Buffer; onSent?: (() => void) | undefined } | { error: ApiError }

/** Runs an operation as REST does. */
export type RunOperation = (identity: Identity, call: OperationCallInput) => Promise<CallAnswer>

interface OperationCallsDeps {
  runOperation: RunOperation
  log: Log
}

/** Runs the operations that clients call on their sockets. */
export class OperationCalls {
  readonly #deps: OperationCallsDeps
  /** Starts one call of each API key in turn: on SQLite a call may take milliseconds. */
  readonly #startQueue = new StartQueue()
  readonly #running = new Set<Promise<unknown>>()

  constructor(deps: OperationCallsDeps) {
    this.#deps = deps
  }

  run(identity: Identity, call: OperationCallInput): Promise<CallAnswer> {
    const answer = this.#run(identity, call)
      .catch((error: unknown): CallAnswer => {
        if (error instanceof ApiError) return { error }
        this.#deps.log.error({ err: error, operation: call.operation }, 'a call of a client failed')
        return { error: new ApiError('UNAVAILABLE', 'The call failed. It may have had its effect.') }
      })
      .finally(() => this.#running.delete(answer))
    this.#running.add(answer)
    return answer
  }

  async #run(identity: Identity, call: OperationCallInput): Promise<CallAnswer> {
    await this.#startQueue.wait(identity.apiKey)
    return this.#deps.runOperation(identity, call)
  }

  /** Resolves when all calls have ended. */
  async idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running)
  }
}
