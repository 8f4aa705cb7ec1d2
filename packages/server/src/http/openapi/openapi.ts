import { type ApiVersion, type Operation, operations } from '@plenum/protocol'
import { version } from '../../start/version.ts'
import { errorSchemas, headers, parameters, securityOf, securitySchemes } from './components.ts'
import { envelopeOf, standardErrors, standardErrorsOf } from './errors.ts'
import { families } from './families.ts'
import { failures, requestBody, success } from './messages.ts'
import { notesOf, notesOfV1 } from './notes.ts'
import { capital, createSchemas, differsInV1, sorted } from './schemas.ts'

type Json = Record<string, unknown>

const description = `A collaboration backend you host yourself.

Every operation is a \`POST\` with a JSON body \`{ "data": … }\`. A success is
\`{ "result": { "status": "success", "message": …, "data": … } }\`. A failure is
\`{ "error": { "status": …, "message": … } }\`, with the HTTP code of the status.
An operation on several items succeeds even if items fail: its answer has the outcome of each item.

Start with **Workspace**: creating one gives you the credentials for all other operations. A write with an
\`Idempotency-Key\` is applied once, however often you send it. Every answer has a header \`x-request-id\`, which
the log of the server contains too.`

const table = Object.entries(operations as Record<string, Record<string, Operation>>).map(
  ([family, verbs]) => [families[family as keyof typeof families], family, Object.entries(verbs)] as const,
)

/** The interface as OpenAPI 3.1, derived from the operation table. */
export function buildOpenApi(): object {
  const schemas = createSchemas()
  const paths: Json = {}
  const requestBodies: Json = {}
  const responses: Json = {}

  const respond = (name: string, response: Json) => {
    responses[name] = response
    return { $ref: `#/components/responses/${name}` }
  }

  for (const [{ title }, family, verbs] of table) {
    for (const [verb, operation] of verbs) {
      const name = capital(family) + capital(verb)
      const failureResponses = Object.fromEntries(
        failures(operation).map(([code, response]) => [
          code,
          respond(failureName(name, code, response), response),
        ]),
      )
      for (const { version, url, title: summary, suffix, isAlias } of pathsOf(operation)) {
        const body = version === 'v1' && differsInV1(operation.input) ? `${name}V1` : name
        requestBodies[body] ??= requestBody(operation, version, schemas)
        const hasOwnMessage = version === 'v1' && operation.v2Message !== undefined
        const answer = respond(hasOwnMessage ? `${name}V1` : name, success(operation, version, schemas))
        paths[url] = {
          post: {
            tags: [title],
            operationId: `${family}.${verb}${suffix}`,
            summary,
            description: descriptionOf(operation, version),
            ...(isAlias && { deprecated: true }),
            security: securityOf[operation.access],
            ...(operation.effect === 'write' && {
              parameters: [{ $ref: '#/components/parameters/IdempotencyKey' }],
            }),
            requestBody: { $ref: `#/components/requestBodies/${body}` },
            responses: { [operation.successStatus ?? 200]: answer, ...failureResponses },
          },
        }
      }
    }
  }

  return {
    openapi: '3.1.0',
    info: {
      title: 'Plenum',
      version,
      description,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/', description: 'The server that serves this document.' }],
    tags: table
      .filter(([, , verbs]) => verbs.length > 0)
      .map(([{ title, description }]) => ({ name: title, description })),
    paths,
    components: {
      securitySchemes,
      parameters,
      headers,
      schemas: sorted({ ...schemas.components, ...errorSchemas }),
      examples: errorExamples(),
      requestBodies,
      responses: sorted(responses),
    },
  }
}

/** The paths of an operation, newest version first, each followed by its aliases. Each path has its own title. */
export function pathsOf({ title, versions, path, aliases = [] }: Operation) {
  const newest = versions.at(-1)
  return versions.toReversed().flatMap((version) => [
    {
      version,
      url: `/${version}${path}`,
      title: version === newest ? title : `${title} (${version})`,
      suffix: version === newest ? '' : `.${version}`,
      isAlias: false,
    },
    ...aliases.map((alias, index) => ({
      version,
      url: `/${version}${alias}`,
      title: `${title} (${version}, alias)`,
      suffix: `.${version}.alias${index === 0 ? '' : index + 1}`,
      isAlias: true,
    })),
  ])
}

const descriptionOf = (operation: Operation, version: ApiVersion): string =>
  [
    operation.summary,
    operation.description,
    ...notesOf(operation),
    ...(version === 'v1' ? notesOfV1(operation.input) : []),
  ]
    .filter(Boolean)
    .join(' ')

/** A response with only standard errors is named after these errors, so that operations share it. */
function failureName(operation: string, code: number, response: Json): string {
  const { content } = response as { content: { 'application/json': { examples: Record<string, Json> } } }
  const examples = Object.entries(content['application/json'].examples)
  return examples.every(([, example]) => '$ref' in example) && examples.length <= 3
    ? examples.map(([key]) => key).join('Or')
    : `${operation}${code}`
}

function errorExamples(): Json {
  const all = table.flatMap(([, , verbs]) => verbs.flatMap(([, operation]) => standardErrorsOf(operation)))
  const used = new Set(all)
  return Object.fromEntries(
    standardErrors
      .filter((error) => used.has(error))
      .map((error) => [
        error.name,
        { summary: error.message, description: error.when, value: envelopeOf(error) },
      ]),
  )
}
