import { type Access, httpStatusOf } from '@plenum/protocol'
import type { JsonSchema } from './schemas.ts'

const status = { type: 'string', enum: Object.keys(httpStatusOf) }

const errorSchemaWith = (code: object): JsonSchema => ({
  type: 'object',
  properties: {
    error: {
      type: 'object',
      properties: {
        status,
        ...code,
        message: { type: 'string', description: 'What is wrong, for developers.' },
        details: { description: 'The outcome of each item, if the operation says so.' },
      },
      required: ['status', ...Object.keys(code), 'message'],
    },
  },
  required: ['error'],
})

export const errorSchemas = {
  Error: errorSchemaWith({}),
  ErrorWithCode: errorSchemaWith({ code: { ...status, description: 'The value of `status`.' } }),
}

const header = (name: string, description: string) => ({ type: 'apiKey', in: 'header', name, description })

export const securitySchemes = {
  ApiKey: header('x-svc-api-key', 'An API key of the workspace.'),
  AuthToken: header('x-svc-auth-token', 'The auth token of the API key.'),
  UserToken: { type: 'http', scheme: 'bearer', description: 'The token of a user (Generate Token).' },
  WorkspaceId: header('x-svc-workspace-id', 'The id of the workspace.'),
  WorkspaceAuthToken: header('x-svc-auth-token', 'The auth token of the workspace.'),
}

const withApiKey = { ApiKey: [], AuthToken: [] }

export const securityOf: Record<Access, readonly object[]> = {
  public: [],
  workspace: [{ WorkspaceId: [], WorkspaceAuthToken: [] }],
  apiKey: [withApiKey],
  user: [withApiKey, { UserToken: [] }],
  // Two alternatives: no headers, because the credentials are in the body, or the headers of an API key.
  body: [{}, withApiKey],
}

export const parameters = {
  IdempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    description:
      'Applies the write once: a request with the same key within 24 hours gets the first answer again.',
    schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[\\x21-\\x7e]+$' },
  },
}

export const headers = {
  IdempotentReplayed: {
    description:
      'Present if this is the stored answer to an earlier request with the same `Idempotency-Key`.',
    schema: { const: 'true' },
  },
  RetryAfter: {
    description: 'Seconds to wait before the next attempt.',
    schema: { type: 'integer', minimum: 1 },
  },
}

/** What the HTTP codes of failures mean. */
export const reasonOf: Readonly<Record<number, string>> = {
  400: 'The request is invalid.',
  401: 'The token is not valid.',
  403: 'The credentials do not permit the request.',
  404: 'A resource in the request does not exist.',
  409: 'The request conflicts with another request, or the resource already exists.',
  413: 'The body is too large.',
  429: 'Too many requests, or a limit is reached.',
  500: 'The server failed, or some items failed: `details` has the outcome of each.',
  501: 'Not available.',
  503: 'The server is not available.',
  504: 'The answer took too long.',
}

/** Codes after which a retry can succeed. */
export const retryableCodes: ReadonlySet<number> = new Set([409, 429, 503, 504])
