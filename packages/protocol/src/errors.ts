import { type ErrorStatus, httpStatusOf } from './base/error-statuses.ts'

export { type ErrorStatus, httpStatusOf } from './base/error-statuses.ts'

export interface ErrorBody {
  error: { status: ErrorStatus; code?: ErrorStatus; message: string; details?: unknown }
}

/** The failure of a request. Thrown by handlers, answered by the server, thrown again by the client. */
export class ApiError extends Error {
  readonly status: ErrorStatus
  readonly details: unknown
  /** Differs from the table only where HTTP has a more precise code: 405, 408 and 413. */
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

  /** `withCode`: for the operations whose errors carry `code` (spec 16.1). */
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
