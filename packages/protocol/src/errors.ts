import { type ErrorStatus, httpStatusOf } from './base/error-statuses.ts'

export { type ErrorStatus, httpStatusOf } from './base/error-statuses.ts'

export interface ErrorBody {
  error: { status: ErrorStatus; code?: ErrorStatus; message: string; details?: unknown }
}

/** A failed request. Handlers throw it, the server sends it as an error envelope, and the client throws it again. */
export class ApiError extends Error {
  readonly status: ErrorStatus
  readonly details: unknown
  /** The HTTP code of the status, except where HTTP has a more precise one, such as 405, 408, 413 and 431. */
  readonly httpStatus: number
  readonly retryAfterSeconds: number | undefined

  constructor(
    status: ErrorStatus,
    message: string,
    more: { details?: unknown; httpStatus?: number; retryAfterSeconds?: number; cause?: unknown } = {},
  ) {
    super(message, more.cause === undefined ? undefined : { cause: more.cause })
    this.name = 'ApiError'
    this.status = status
    this.details = more.details
    this.httpStatus = more.httpStatus ?? httpStatusOf[status]
    this.retryAfterSeconds = more.retryAfterSeconds
  }

  /** `withCode`: for operations whose errors have a field `code` (spec 16.1). */
  toBody({ withCode = false } = {}): ErrorBody {
    const { status, message, details } = this
    return {
      error: {
        status,
        ...(withCode && { code: status }),
        message,
        ...(details !== undefined && { details }),
      },
    }
  }
}
