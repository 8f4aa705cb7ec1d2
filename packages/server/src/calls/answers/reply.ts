import type { ApiError } from '@plenum/protocol'

interface ReplyOptions {
  message?: string
  extra?: Record<string, unknown>
  onSent?: (() => void) | undefined
}

/** What a handler returns instead of plain data, if its answer needs more than that. */
export class Reply<T> {
  readonly data: T
  readonly message: string | undefined
  /** Keys next to `data`. */
  readonly extra: Readonly<Record<string, unknown>> | undefined
  /** If set, the transaction commits but the caller gets this error (spec 0.4.1). */
  readonly error: ApiError | undefined
  /** Whether the error is the server's fault. Otherwise items of the caller's batch failed. */
  readonly isFault: boolean
  /** Called once, when the answer has been sent or cannot be sent. */
  readonly onSent: (() => void) | undefined

  constructor(data: T, options: ReplyOptions & { error?: ApiError; isFault?: boolean } = {}) {
    this.data = data
    this.message = options.message
    this.extra = options.extra
    this.error = options.error
    this.isFault = options.isFault === true
    this.onSent = options.onSent
  }
}

/** A success with its own message, or with keys next to its data. */
export const reply = <T>(data: T, options: ReplyOptions): Reply<T> => new Reply(data, options)

/** A partial failure: the transaction commits, and the caller gets the error. `isFault`: the server failed, not the items. */
export const partial = (error: ApiError, { isFault = false } = {}): Reply<never> =>
  new Reply(undefined as never, { error, isFault })
