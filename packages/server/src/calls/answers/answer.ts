import { ApiError, type Operation } from '@plenum/protocol'
import { encodeJson, type JsonBody } from './encoded-json.ts'
import { Reply } from './reply.ts'

/** The answer to a call, ready to be sent. */
export interface Answer {
  httpStatus: number
  body: JsonBody
  /** The status that metrics count, where it differs from `httpStatus`. */
  countedStatus?: number
  /** Whether this is the stored answer to an earlier request with the same idempotency key. */
  isReplayed?: boolean
  /** Called once, when the answer has been sent or cannot be sent. */
  onSent?: () => void
}

/** HTTP's status for a batch of which some items failed. */
const multiStatus = 207

/** Turns what a handler returned into an answer. */
export function answerOf(operation: Operation, result: unknown): Answer {
  if (!(result instanceof Reply)) return success(operation, operation.message, result)
  if (result.error instanceof ApiError) {
    const body = encodeJson(result.error.toBody({ withCode: operation.errorCode === true }))
    const { httpStatus } = result.error
    return {
      httpStatus,
      body,
      // The interface sends some failures of items as errors of the server. An operator would look for a fault.
      ...(httpStatus >= 500 && !result.isFault && { countedStatus: multiStatus }),
    }
  }
  const { onSent } = result
  return {
    ...success(operation, result.message ?? operation.message, result.data, result.extra),
    ...(onSent && { onSent }),
  }
}

const success = (
  operation: Operation,
  message: string,
  data: unknown,
  extra?: Readonly<Record<string, unknown>>,
): Answer => ({
  httpStatus: operation.successStatus ?? 200,
  body: encodeJson({ result: { status: 'success', message, data, ...extra } }),
})
