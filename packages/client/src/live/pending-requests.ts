import { ApiError } from '@plenum/protocol/errors'
import type { ServerMessage } from '@plenum/protocol/realtime'

export type Done = ServerMessage & { type: 'done' }

export interface PendingRequestsDeps<Message> {
  /** Why nothing can be sent any more. */
  failure(): ApiError | undefined
  /** Returns false if the request cannot be sent now. `onOutcome` is then never called. */
  request(message: Message, onOutcome: (outcome: Done | ApiError) => void): boolean
}

interface PendingRequest<Message> {
  message: Message
  isSent: boolean
  settle(outcome: Done | ApiError): void
}

/** Requests that were not answered yet. A request made without a connection waits for the connection. */
export class PendingRequests<Message> {
  readonly #deps: PendingRequestsDeps<Message>
  readonly #requests = new Set<PendingRequest<Message>>()
  #isFlushing = false

  constructor(deps: PendingRequestsDeps<Message>) {
    this.#deps = deps
  }

  /** Rejects with an `ApiError`, or with the reason of the signal. */
  send(message: Message, signal?: AbortSignal): Promise<Done> {
    return new Promise((resolve, reject) => {
      const failure = this.#deps.failure()
      if (failure) return reject(failure)
      if (signal?.aborted) return reject(signal.reason as Error)
      const settle = (outcome: Done | ApiError) => {
        if (!this.#requests.delete(request)) return
        if (outcome instanceof ApiError) reject(outcome)
        else resolve(outcome)
      }
      const request: PendingRequest<Message> = { message, isSent: false, settle }
      this.#requests.add(request)
      signal?.addEventListener('abort', () => {
        if (this.#requests.delete(request)) reject(signal.reason as Error)
      })
      this.flush()
    })
  }

  /** Sends the waiting requests, if they can be sent now. */
  flush(): void {
    // Sending may change the state of the sender, which calls this method again.
    if (this.#isFlushing) return
    this.#isFlushing = true
    for (const request of this.#requests) {
      if (request.isSent) continue
      request.isSent = this.#deps.request(request.message, (outcome) => request.settle(outcome))
      if (!request.isSent) break
    }
    this.#isFlushing = false
  }

  /** The connection was lost. Requests are sent again, except those for which `errorOf` returns an error. */
  onLost(errorOf: (message: Message) => ApiError | undefined = () => undefined): void {
    for (const request of this.#requests) {
      const error = request.isSent ? errorOf(request.message) : undefined
      if (error) request.settle(error)
      request.isSent = false
    }
  }

  rejectAll(error: ApiError): void {
    for (const request of this.#requests) request.settle(error)
  }
}
