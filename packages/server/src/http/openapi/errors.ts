import { type Access, type ErrorExample, httpStatusOf, type Operation, type Option } from '@plenum/protocol'
import { optionOff } from '../../calls/required-option.ts'
import { tookTooLong } from '../../platform/turns/time-limit.ts'
import { databaseTooLate } from '../errors.ts'

/** An error that many operations share, because it comes from credentials, limits or the database. */
export interface StandardError extends ErrorExample {
  /** The name of its example in the OpenAPI document. */
  name: string
  when: string
  /** The HTTP code, if it is not that of the status. */
  httpStatus?: number
  /** `access`, `effect` and `requires` select the operations that can answer the error. Default: all. */
  access?: readonly Access[]
  effect?: 'write'
  requires?: Option
}

const invalid = (
  name: string,
  message: string,
  when: string,
  where: Pick<StandardError, 'access' | 'effect'> = {},
): StandardError => ({ name, status: 'INVALID_ARGUMENT', message, when, ...where })

/** Listed in the order in which the server checks a request. */
export const standardErrors: readonly StandardError[] = [
  {
    name: 'ShuttingDown',
    status: 'UNAVAILABLE',
    message: 'The server is shutting down.',
    when: 'The server is stopping. Retry after `retry-after` seconds.',
  },
  invalid(
    'MissingWorkspaceId',
    'Workspace ID not found in headers.',
    'The header `x-svc-workspace-id` is missing.',
    { access: ['workspace'] },
  ),
  invalid(
    'UserTokenRefused',
    'This operation does not accept the token of a user. Send x-svc-api-key and x-svc-auth-token instead.',
    'The request has a header `Authorization`, but not the credentials of an API key.',
    { access: ['apiKey'] },
  ),
  invalid(
    'MissingAuthToken',
    'Auth Token not found in headers.',
    'The header `x-svc-auth-token` is missing. Where users can call, `Authorization` is missing too.',
    { access: ['apiKey', 'user', 'workspace'] },
  ),
  invalid('MissingApiKey', 'API key not found in headers.', 'The header `x-svc-api-key` is missing.', {
    access: ['apiKey', 'user'],
  }),
  invalid('MissingBodyAuthToken', 'Auth token not found.', '`authToken` is missing in `data`.', {
    access: ['body'],
  }),
  invalid('MissingBodyApiKey', 'API key not found.', '`apiKey` is missing in `data`.', { access: ['body'] }),
  {
    name: 'InvalidWorkspaceCredentials',
    status: 'PERMISSION_DENIED',
    message: 'Invalid workspace credentials.',
    when: 'The workspace does not exist, or the token does not belong to it.',
    access: ['workspace'],
  },
  {
    name: 'InvalidApiKey',
    status: 'PERMISSION_DENIED',
    message: 'Invalid API key.',
    when: 'The API key does not exist or has expired.',
    access: ['apiKey', 'user', 'body'],
  },
  {
    name: 'InvalidAuthToken',
    status: 'UNAUTHENTICATED',
    message: 'Invalid auth token.',
    when: 'The token does not belong to the API key.',
    access: ['apiKey', 'user', 'body'],
  },
  {
    name: 'InvalidUserToken',
    status: 'UNAUTHENTICATED',
    message: 'token_expired: The token has expired.',
    when: 'The user token in the header `Authorization` is not valid. The message begins with `token_expired` or `token_invalid`.',
    access: ['user'],
  },
  {
    name: 'AdvancedQueriesOff',
    status: 'FAILED_PRECONDITION',
    message: optionOff.useAdvancedQueries,
    when: 'The option `useAdvancedQueries` of the API key is off.',
    requires: 'useAdvancedQueries',
  },
  {
    name: 'NotificationServiceOff',
    status: 'FAILED_PRECONDITION',
    message: optionOff.useNotificationService,
    when: 'The option `useNotificationService` of the API key is off.',
    requires: 'useNotificationService',
  },
  {
    name: 'RateLimitExceeded',
    status: 'RESOURCE_EXHAUSTED',
    message: 'Rate limit exceeded. Try again after 1 minute.',
    when: 'The workspace or the API key sent more requests in a minute than the operator of the server allows.',
    access: ['apiKey', 'user', 'workspace', 'body'],
  },
  {
    name: 'OriginNotAllowed',
    status: 'PERMISSION_DENIED',
    message:
      'This origin is not among the allowed domains of the API key. Add it with /v2/workspace/domains/add.',
    when: 'A web page sent the request, and its domain is not an allowed domain of the API key.',
    access: ['apiKey', 'user', 'body'],
  },
  {
    name: 'BodyTooLarge',
    status: 'INVALID_ARGUMENT',
    message: 'Request body is too large. It must not have more than 1048576 bytes (LIMIT_BODY_BYTES).',
    when: 'The body has more than 1 MiB, or 10 MiB if the operation writes CRDT data. The message names the setting.',
    httpStatus: 413,
  },
  invalid(
    'WrongContentType',
    'Content-Type must be application/json.',
    'The header `content-type` is not `application/json`.',
  ),
  invalid(
    'TooDeep',
    'Request body must not nest deeper than 64 levels.',
    'Objects and arrays are nested deeper than `LIMIT_JSON_DEPTH`.',
  ),
  invalid(
    'TooManyKeys',
    'Request body must not have more than 10000 keys.',
    'The body has more keys than `LIMIT_JSON_KEYS`. CRDT data in bodies above 32 KiB has its own limits.',
  ),
  invalid(
    'TooManyValues',
    'Request body must not have more than 50000 strings, arrays and objects.',
    'The body has more strings, arrays and objects than `LIMIT_JSON_VALUES`. CRDT data in bodies above 32 KiB has its own limits.',
  ),
  invalid('InvalidJson', 'Request body is not valid JSON.', 'The body is not JSON.'),
  invalid(
    'NulCharacter',
    'Strings must not contain the NUL character.',
    'A string or a key of the body contains U+0000.',
  ),
  invalid(
    'UnpairedSurrogate',
    'Strings must not contain unpaired surrogates.',
    'A string or a key of the body contains half of a surrogate pair, such as the escape `\\ud83d` alone.',
  ),
  invalid('MissingData', 'data is required.', 'The body has no object `data`.'),
  invalid(
    'InvalidIdempotencyKey',
    'Idempotency-Key must have 1 to 255 visible ASCII characters.',
    'The header `idempotency-key` is invalid.',
    { effect: 'write' },
  ),
  invalid(
    'IdempotencyKeyReused',
    'This Idempotency-Key was used with another request body.',
    'A request with the same key and another body was sent within the last 24 hours.',
    { effect: 'write' },
  ),
  {
    name: 'IdempotencyKeyInProgress',
    status: 'ABORTED',
    message: 'A request with this Idempotency-Key is in progress.',
    when: 'The first request with this key is still running. Retry after `retry-after` seconds.',
    effect: 'write',
  },
  {
    name: 'Collision',
    status: 'ABORTED',
    message: 'The request collided with others. Try again.',
    when: 'Concurrent writes changed the same records. The request changed nothing.',
    effect: 'write',
  },
  {
    name: 'BeingDeleted',
    status: 'ABORTED',
    message: 'Something that the request names is being deleted. Try again.',
    when: 'The deletion of a large organization, folder or document did not finish within 10 seconds. Retry after `retry-after` seconds.',
    access: ['apiKey', 'user', 'body'],
  },
  {
    name: 'DatabaseUnavailable',
    status: 'UNAVAILABLE',
    message: 'The database is not available. Try again.',
    when: 'The server cannot reach its database. Retry after `retry-after` seconds.',
  },
  {
    name: 'DatabaseTooLate',
    status: 'DEADLINE_EXCEEDED',
    message: databaseTooLate,
    when: 'The database accepted the request and then did not answer for `DATABASE_TIMEOUT_SECONDS`. Retry a write with the same `Idempotency-Key`, so it is applied once.',
  },
  {
    name: 'CallTooLate',
    status: 'DEADLINE_EXCEEDED',
    message: tookTooLong,
    when: 'The server did not finish in time, and stopped. Retry a write with the same `Idempotency-Key`, so it is applied once.',
  },
  {
    name: 'InternalError',
    status: 'INTERNAL',
    message: 'Internal error.',
    when: 'The server failed. Its log has the details under the `x-request-id` of the answer.',
  },
]

export const httpStatusOfError = (error: ErrorExample & { httpStatus?: number }): number =>
  error.httpStatus ?? httpStatusOf[error.status]

export const envelopeOf = (
  { status, message, details }: ErrorExample,
  { errorCode }: Pick<Operation, 'errorCode'> = {},
) => ({
  error: { status, ...(errorCode && { code: status }), message, ...(details !== undefined && { details }) },
})

const sameAs = (one: ErrorExample) => (other: ErrorExample) =>
  one.status === other.status && one.message === other.message

/** The errors of the operation that are not standard errors. */
export const ownErrors = ({ errors = [] }: Operation): readonly ErrorExample[] =>
  errors.filter((error) => !standardErrors.some(sameAs(error)))

/** The standard errors that the operation can answer or declares. */
export function standardErrorsOf(operation: Operation): readonly StandardError[] {
  const { errors = [] } = operation
  return standardErrors.filter((error) => applies(error, operation) || errors.some(sameAs(error)))
}

function applies({ name, access, effect, requires }: StandardError, operation: Operation): boolean {
  // Get Workspace has its own errors for an unknown workspace and for a wrong token (spec 0.2).
  if (name === 'InvalidWorkspaceCredentials' && operation.path === '/workspace/get') return false
  return (
    (access === undefined || access.includes(operation.access)) &&
    (effect === undefined || effect === operation.effect) &&
    (requires === undefined || requires === operation.requires)
  )
}
