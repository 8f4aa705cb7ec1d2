import { type Access, type ErrorExample, httpStatusOf, type Operation, type Option } from '@plenum/protocol'
import { optionOff } from '../authenticate.ts'
import { databaseTooLate } from '../errors.ts'

/** An error that comes from what surrounds an operation and not from the operation itself. */
export interface StandardError extends ErrorExample {
  /** The name of its example in the OpenAPI document. */
  name: string
  when: string
  /** Differs from that of the status only where HTTP has a more precise code. */
  httpStatus?: number
  /** The levels, the effect and the option of the operations that may answer it; all of them unless given. */
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

/** In the order in which a request meets them. */
export const standardErrors: readonly StandardError[] = [
  {
    name: 'ShuttingDown',
    status: 'UNAVAILABLE',
    message: 'The server is shutting down.',
    when: 'The server is about to stop. Send the request again after `retry-after` seconds.',
  },
  invalid(
    'MissingWorkspaceId',
    'Workspace ID not found in headers.',
    'The header `x-svc-workspace-id` is missing.',
    { access: ['workspace'] },
  ),
  invalid(
    'MissingAuthToken',
    'Auth Token not found in headers.',
    'The header `x-svc-auth-token` is missing.',
    { access: ['apiKey', 'workspace'] },
  ),
  invalid('MissingApiKey', 'API key not found in headers.', 'The header `x-svc-api-key` is missing.', {
    access: ['apiKey'],
  }),
  invalid('MissingBodyAuthToken', 'Auth token not found.', '`authToken` is missing in `data`.', {
    access: ['body'],
  }),
  invalid('MissingBodyApiKey', 'API key not found.', '`apiKey` is missing in `data`.', { access: ['body'] }),
  {
    name: 'InvalidWorkspaceCredentials',
    status: 'PERMISSION_DENIED',
    message: 'Invalid workspace credentials.',
    when: 'The workspace does not exist, or the token is not the one of the workspace.',
    access: ['workspace'],
  },
  {
    name: 'InvalidApiKey',
    status: 'PERMISSION_DENIED',
    message: 'Invalid API key.',
    when: 'The API key does not exist, or has expired.',
    access: ['apiKey', 'body'],
  },
  {
    name: 'InvalidAuthToken',
    status: 'UNAUTHENTICATED',
    message: 'Invalid auth token.',
    when: 'The token does not belong to the API key.',
    access: ['apiKey', 'body'],
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
    when: 'More requests in a minute than the operator of the server allows for a workspace or an API key.',
    access: ['apiKey', 'workspace', 'body'],
  },
  {
    name: 'OriginNotAllowed',
    status: 'PERMISSION_DENIED',
    message:
      'This origin is not among the allowed domains of the API key. Add it with /v2/workspace/domains/add.',
    when: 'A web page of a domain that is not on the list of the API key sent the request.',
    access: ['apiKey', 'body'],
  },
  {
    name: 'BodyTooLarge',
    status: 'INVALID_ARGUMENT',
    message: 'Request body is too large. It must not have more than 1048576 bytes (LIMIT_BODY_BYTES).',
    when: 'The body has more than 1 MiB, or 10 MiB where editor data is written. The message names the setting.',
    httpStatus: 413,
  },
  invalid('WrongContentType', 'Content-Type must be application/json.', 'The body is not declared as JSON.'),
  invalid(
    'TooDeep',
    'Request body must not nest deeper than 64 levels.',
    'Objects and arrays are nested deeper than `LIMIT_JSON_DEPTH`.',
  ),
  invalid(
    'TooManyKeys',
    'Request body must not have more than 10000 keys.',
    'The body has more keys than `LIMIT_JSON_KEYS`. CRDT data in bodies above 32 KiB has limits of its own.',
  ),
  invalid(
    'TooManyValues',
    'Request body must not have more than 50000 strings, arrays and objects.',
    'The body has more of them than `LIMIT_JSON_VALUES`. CRDT data in bodies above 32 KiB has limits of its own.',
  ),
  invalid('InvalidJson', 'Request body is not valid JSON.', 'The body cannot be parsed.'),
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
    'The header `idempotency-key` cannot be used.',
    { effect: 'write' },
  ),
  invalid(
    'IdempotencyKeyReused',
    'This Idempotency-Key was used with another request body.',
    'The same key came with another body within 24 hours.',
    { effect: 'write' },
  ),
  {
    name: 'IdempotencyKeyInProgress',
    status: 'ABORTED',
    message: 'A request with this Idempotency-Key is in progress.',
    when: 'The first request with this key has not been answered yet. Send it again after `retry-after` seconds.',
    effect: 'write',
  },
  {
    name: 'Collision',
    status: 'ABORTED',
    message: 'The request collided with others. Try again.',
    when: 'Concurrent writes kept changing the same records. Nothing was changed.',
    effect: 'write',
  },
  {
    name: 'BeingDeleted',
    status: 'ABORTED',
    message: 'Something that the request names is being deleted. Try again.',
    when: 'A large organization, folder or document is being deleted, and that was not finished within 10 seconds. Send the request again after `retry-after` seconds.',
    access: ['apiKey', 'body'],
  },
  {
    name: 'DatabaseUnavailable',
    status: 'UNAVAILABLE',
    message: 'The database is not available. Try again.',
    when: 'The server does not reach its database. Send the request again after `retry-after` seconds.',
  },
  {
    name: 'DatabaseTooLate',
    status: 'DEADLINE_EXCEEDED',
    message: databaseTooLate,
    when: 'The database took the request and then fell silent for `DATABASE_TIMEOUT_SECONDS`. With the same `Idempotency-Key` a write happens once, however often it is sent.',
  },
  {
    name: 'InternalError',
    status: 'INTERNAL',
    message: 'Internal error.',
    when: 'A fault of the server. Its log has the details under the `x-request-id` of the answer.',
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

/** The errors that only this operation has. */
export const ownErrors = ({ errors = [] }: Operation): readonly ErrorExample[] =>
  errors.filter((error) => !standardErrors.some(sameAs(error)))

export function standardErrorsOf(operation: Operation): readonly StandardError[] {
  const { errors = [] } = operation
  return standardErrors.filter((error) => applies(error, operation) || errors.some(sameAs(error)))
}

function applies({ name, access, effect, requires }: StandardError, operation: Operation): boolean {
  // Reading the workspace tells what is wrong with the credentials (spec 0.2).
  if (name === 'InvalidWorkspaceCredentials' && operation.path === '/workspace/get') return false
  return (
    (access === undefined || access.includes(operation.access)) &&
    (effect === undefined || effect === operation.effect) &&
    (requires === undefined || requires === operation.requires)
  )
}
