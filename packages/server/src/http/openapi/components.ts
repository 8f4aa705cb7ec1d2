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
        message: { type: 'string', description: 'A sentence for the developer who reads it.' },
        details: { description: 'What became of each item, where an operation says so.' },
      },
      required: ['status', ...Object.keys(code), 'message'],
    },
  },
  required: ['error'],
})

export const errorSchemas = {
  Error: errorSchemaWith({}),
  ErrorWithCode: errorSchemaWith({ code: { ...status, description: 'The same word as `status`.' } }),
}

const header = (name: string, description: string) => ({ type: 'apiKey', in: 'header', name, description })

export const securitySchemes = {
  ApiKey: header('x-svc-api-key', 'An API key of the workspace.'),
  AuthToken: header('x-svc-auth-token', 'The auth token of the API key.'),
  WorkspaceId: header('x-svc-workspace-id', 'The id of the workspace.'),
  WorkspaceAuthToken: header('x-svc-auth-token', 'The auth token of the workspace.'),
}

const withApiKey = { ApiKey: [], AuthToken: [] }

export const securityOf: Record<Access, readonly object[]> = {
  public: [],
  workspace: [{ WorkspaceId: [], WorkspaceAuthToken: [] }],
  apiKey: [withApiKey],
  // The credentials stand in the body; the headers serve as well.
  body: [{}, withApiKey],
}

export const parameters = {
  IdempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    description:
      'Runs the write once: a request with the same key within 24 hours gets the first answer again.',
    schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[\\x21-\\x7e]+$' },
  },
}

export const headers = {
  IdempotentReplayed: {
    description:
      'Present when this is the kept answer to an earlier request with the same `Idempotency-Key`.',
    schema: { const: 'true' },
  },
  RetryAfter: {
    description: 'Seconds to wait before the next attempt.',
    schema: { type: 'integer', minimum: 1 },
  },
}

/** What an HTTP code of a failure says. */
export const reasonOf: Readonly<Record<number, string>> = {
  400: 'The request cannot be used as it is.',
  401: 'The token is not valid.',
  403: 'The credentials do not allow it.',
  404: 'Something that the request names does not exist.',
  409: 'The request met another one, or what it would create exists already.',
  413: 'The body is too large.',
  429: 'Too many requests, or a limit is reached.',
  500: 'A fault of the server, or items that could not be handled; `details` tells which.',
  501: 'Not available.',
  503: 'The server cannot answer now.',
  504: 'The answer took too long.',
}

/** Codes after which the same request may succeed. */
export const passingCodes: ReadonlySet<number> = new Set([409, 429, 503, 504])
