/** Every status of the interface and the HTTP code that carries it (spec 23). */
export const httpStatusOf = {
  INVALID_ARGUMENT: 400,
  FAILED_PRECONDITION: 400,
  UNAUTHENTICATED: 401,
  PERMISSION_DENIED: 403,
  NOT_FOUND: 404,
  ALREADY_EXISTS: 409,
  ABORTED: 409,
  RESOURCE_EXHAUSTED: 429,
  INTERNAL: 500,
  UNIMPLEMENTED: 501,
  UNAVAILABLE: 503,
  DEADLINE_EXCEEDED: 504,
} as const

export type ErrorStatus = keyof typeof httpStatusOf

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
