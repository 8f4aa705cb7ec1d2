import type { ErrorExample, Operation, ApiVersion } from '@plenum/protocol'
import { createFieldFilter } from '../../calls/input/ignored-fields.ts'
import { explain } from '../../platform/validation/explain.ts'
import { reasonOf, retryableCodes } from './components.ts'
import { envelopeOf, httpStatusOfError, ownErrors, standardErrorsOf } from './errors.ts'
import { capital, type Schemas } from './schemas.ts'

type Json = Record<string, unknown>

export function requestBody(operation: Operation, version: ApiVersion, schemas: Schemas): Json {
  const { input, body, example } = operation
  const data = schemas.of(input, version)
  const wrapped = { type: 'object', properties: { data }, ...(body !== 'optional' && { required: ['data'] }) }
  return {
    required: body !== 'optional',
    content: {
      'application/json': {
        schema: body === 'flat' ? { anyOf: [wrapped, data] } : wrapped,
        examples: {
          request: { summary: 'A request', value: { data: exampleInput(operation, version) } },
          ...(body === 'flat' && { flat: { summary: 'The same without `data`', value: example.input } }),
        },
      },
    },
  }
}

/** The input of the example. Under v1 it has no fields that v1 ignores. */
function exampleInput({ input, example }: Operation, version: ApiVersion): unknown {
  const sent: unknown = structuredClone(example.input)
  if (version === 'v1') createFieldFilter(input)?.(sent)
  return sent
}

export function success(operation: Operation, version: ApiVersion, schemas: Schemas): Json {
  const { output, message, paging = [], effect } = operation
  const other = version === 'v1' ? undefined : operation.v2Message
  const token = {
    type: 'string',
    description: 'Send it as `pageToken` to read the next page. Absent on the last page.',
  }
  const result = {
    type: 'object',
    properties: {
      status: { const: 'success' },
      message: { type: 'string', examples: [message, ...(other ? [other.message] : [])] },
      data: schemas.of(output),
      ...Object.fromEntries(paging.map((key) => [key, token])),
    },
    required: ['status', 'message', 'data'],
  }
  const replayed = { 'Idempotent-Replayed': { $ref: '#/components/headers/IdempotentReplayed' } }
  return {
    description: other ? `${message} Or, ${other.when}: ${other.message}` : message,
    ...(effect === 'write' && { headers: replayed }),
    content: {
      'application/json': {
        schema: { type: 'object', properties: { result }, required: ['result'] },
        examples: { success: { summary: 'A success', value: successEnvelope(operation, version) } },
      },
    },
  }
}

/** The answer to the operation's example. */
export function successEnvelope(operation: Operation, version: ApiVersion) {
  const { paging = [], example, v2Message } = operation
  const { output: data, nextPageToken } = example
  const message = version !== 'v1' && example.isV2Message && v2Message ? v2Message.message : operation.message
  const tokens = nextPageToken === undefined ? [] : paging.map((key) => [key, nextPageToken])
  return { result: { status: 'success', message, data, ...Object.fromEntries(tokens) } }
}

/** A response for each HTTP code with which the operation can fail, with an example of each error under that code. */
export function failures(operation: Operation): [code: number, response: Json][] {
  const examplesOf = new Map<number, Json>()
  const add = (error: ErrorExample, key: string, example: Json) => {
    const code = httpStatusOfError(error)
    const examples = examplesOf.get(code) ?? {}
    let unique = key
    for (let count = 2; unique in examples; count++) unique = `${key}${count}`
    examplesOf.set(code, { ...examples, [unique]: example })
  }
  for (const error of [...missingInput(operation), ...ownErrors(operation)]) {
    add(error, keyOf(error.message), { summary: error.message, value: envelopeOf(error, operation) })
  }
  for (const error of standardErrorsOf(operation)) {
    const shared = { $ref: `#/components/examples/${error.name}` }
    const own = { summary: error.message, description: error.when, value: envelopeOf(error, operation) }
    add(error, error.name, operation.errorCode ? own : shared)
  }
  return [...examplesOf]
    .sort(([one], [other]) => one - other)
    .map(([code, examples]) => [
      code,
      failure(code, examples, operation.errorCode ? 'ErrorWithCode' : 'Error'),
    ])
}

const failure = (code: number, examples: Json, schema: 'Error' | 'ErrorWithCode'): Json => ({
  description: reasonOf[code] ?? 'Failed.',
  ...(retryableCodes.has(code) && {
    headers: { 'Retry-After': { $ref: '#/components/headers/RetryAfter' } },
  }),
  content: { 'application/json': { schema: { $ref: `#/components/schemas/${schema}` }, examples } },
})

/** The error for an empty `data`. None if the operation accepts that, or declares the error itself. */
export function missingInput(operation: Operation): ErrorExample[] {
  const message = explain(operation.input, {})
  if (message === undefined || operation.errors?.some((error) => error.message === message)) return []
  return [{ status: 'INVALID_ARGUMENT', message }]
}

/** The name of an example: the first six words of its message. */
const keyOf = (message: string) =>
  message
    .replace(/[^A-Za-z0-9 ]/g, '')
    .split(' ')
    .filter(Boolean)
    .slice(0, 6)
    .map(capital)
    .join('')
