import { ApiError } from '@plenum/protocol'
import type { Clock, StopTimer } from '../clock.ts'

/** Proxies close a connection on which nothing happens for 60 s. The answer must come before. */
const maxCallSeconds = 50

export const tookTooLong = `The call took longer than ${maxCallSeconds} s. A write may or may not have been applied: send it again with the same Idempotency-Key.`

/** Nobody gets it. */
const callerIsGone = new ApiError('ABORTED', 'The caller has disconnected.')

export interface TimeLimitOptions {
  clock: Clock
  /** Called when the time is over, with the answer to the call. */
  onOver: (error: ApiError) => void
  /** Whether the whole call has arrived. If not, it gets its time again: how long it may take to arrive has another limit. */
  hasArrived?: () => boolean
}

/**
 * The time that a call has from its arrival to its answer. When the time is over, or the caller has disconnected, nobody waits
 * for the answer any more, and the work of the call stops at its next step.
 */
export class TimeLimit {
  readonly #options: TimeLimitOptions
  readonly #work = new AbortController()
  #stopTimer: StopTimer

  constructor(options: TimeLimitOptions) {
    this.#options = options
    this.#stopTimer = this.#start()
  }

  /** Aborted when nobody waits for the answer any more. The reason is an `ApiError`. */
  get abandoned(): AbortSignal {
    return this.#work.signal
  }

  #start(): StopTimer {
    const { clock, onOver, hasArrived = () => true } = this.#options
    return clock.setTimeout(() => {
      if (!hasArrived()) return void (this.#stopTimer = this.#start())
      const error = new ApiError('DEADLINE_EXCEEDED', tookTooLong, { retryAfterSeconds: 1 })
      this.#work.abort(error)
      onOver(error)
    }, maxCallSeconds * 1000)
  }

  /** Call it when the call has its answer. */
  onAnswered(): void {
    this.#stopTimer()
  }

  /** Call it when the caller has disconnected before it got the answer. */
  onCallerGone(): void {
    this.#stopTimer()
    this.#work.abort(callerIsGone)
  }
}
