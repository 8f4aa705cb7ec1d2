import type { ApiError } from '@plenum/protocol'

interface ReplyOptions {
  message?: string
  extra?: Record<string, unknown>
  onSent?: (() => void) | undefined
}

/** An answer with more than its data. */
export class Reply<T> {
  readonly data: T
  readonly message: string | undefined
  /** Keys next to `data`. */
  readonly extra: Readonly<Record<string, unknown>> | undefined
  /** The transaction commits, but the caller gets this error (spec 0.4 patterns B to D). */
  readonly error: ApiError | undefined
  /** Called once, when the answer has been sent or cannot be. */
  readonly onSent: (() => void) | undefined

  constructor(data: T, options: ReplyOptions & { error?: ApiError } = {}) {
    this.data = data
    this.message = options.message
    this.extra = options.extra
    this.error = options.error
    this.onSent = options.onSent
  }
}

/** A success with another message, or with keys next to its data. */
export const reply = <T>(data: T, options: ReplyOptions): Reply<T> => new Reply(data, options)

/** A partial failure: commits what was done and answers with the error. */
export const partial = (error: ApiError): Reply<never> => new Reply(undefined as never, { error })
