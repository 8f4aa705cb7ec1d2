import { ApiError } from '@plenum/protocol'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { isCollision, isDiskFull, isTimeout, isUnavailable } from '../store/engine/failures.ts'
import { carriesErrorCode } from './error-code.ts'

export const databaseTooLate =
  'The database did not answer in time. A write may or may not have been applied: send it again with the same Idempotency-Key.'

const diskFull =
  'The disk of the database is full, so nothing was stored. Try again when its operator has made space.'

/** `what` is the subject of the sentence: the part of the body that the setting limits. */
export const bodyTooLarge = (what: string, maxBytes: number, setting: string) =>
  new ApiError(
    'INVALID_ARGUMENT',
    `Request body is too large. ${what} must not have more than ${maxBytes} bytes (${setting}).`,
    { httpStatus: 413 },
  )

/** Turns any error into an error of the interface. An unexpected error becomes `INTERNAL` without details. */
export function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error
  const { code, statusCode } = (error ?? {}) as { code?: string; statusCode?: number }
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') {
    return new ApiError('INVALID_ARGUMENT', 'Content-Type must be application/json.')
  }
  if (statusCode !== undefined && statusCode >= 400 && statusCode < 500) {
    return new ApiError('INVALID_ARGUMENT', 'Malformed request.', { httpStatus: statusCode })
  }
  if (isTimeout(error)) {
    return new ApiError('DEADLINE_EXCEEDED', databaseTooLate, { retryAfterSeconds: 1, cause: error })
  }
  if (isDiskFull(error)) {
    return new ApiError('UNAVAILABLE', diskFull, { retryAfterSeconds: 1, cause: error })
  }
  if (isUnavailable(error)) {
    return new ApiError('UNAVAILABLE', 'The database is not available. Try again.', {
      retryAfterSeconds: 1,
      cause: error,
    })
  }
  if (isCollision(error)) {
    return new ApiError('ABORTED', 'The request collided with others. Try again.', {
      retryAfterSeconds: 1,
      cause: error,
    })
  }
  return new ApiError('INTERNAL', 'Internal error.', { cause: error })
}

/** The body of an answer that reports the error at this URL. The URL may be unknown. */
export const errorBody = (error: ApiError, url: string | undefined) =>
  error.toBody({ withCode: carriesErrorCode(url) })

/** Answers with the error, and logs its cause. */
export function sendError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const failure = toApiError(error)
  if (failure.cause !== undefined)
    request.log.error({ reqId: request.id, err: failure.cause }, failure.message)
  if (failure.httpStatus === 413) discardBody(request, reply)
  if (failure.retryAfterSeconds !== undefined) reply.header('retry-after', failure.retryAfterSeconds)
  return reply.code(failure.httpStatus).send(errorBody(failure, request.url))
}

export function bodyTooLargeFor({ routeOptions }: FastifyRequest): ApiError {
  const setting = routeOptions.config.keepsDataUnparsed ? 'LIMIT_CRDT_BODY_BYTES' : 'LIMIT_BODY_BYTES'
  return bodyTooLarge('It', routeOptions.bodyLimit, setting)
}

/**
 * Reads and discards the rest of the body, within the time limit of a request. Without this the connection would close
 * while the client still sends, and the client might never see the answer.
 */
function discardBody(request: FastifyRequest, reply: FastifyReply): void {
  reply.removeHeader('connection')
  request.raw.resume()
}

/** Answers every error in the form of the interface, also at URLs without an operation (spec 0.1). */
export function answerFailures(app: FastifyInstance): void {
  app.setErrorHandler(sendError)
  app.setNotFoundHandler((request, reply) => {
    const path = request.url.split('?', 1)[0] ?? ''
    if (request.method !== 'POST' && app.hasRoute({ method: 'POST', url: path })) {
      reply.header('allow', 'POST')
      throw new ApiError('INVALID_ARGUMENT', 'Only POST is supported.', { httpStatus: 405 })
    }
    throw new ApiError('NOT_FOUND', 'Not found.')
  })
}
