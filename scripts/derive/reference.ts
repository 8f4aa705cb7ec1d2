import { type Access, type ApiVersion, type ErrorExample, type Operation, operations } from '@plenum/protocol'
import { envelopeOf, httpStatusOfError, ownErrors } from '../../packages/server/src/http/openapi/errors.ts'
import { families } from '../../packages/server/src/http/openapi/families.ts'
import { missingInput, successEnvelope } from '../../packages/server/src/http/openapi/messages.ts'
import { notesOf } from '../../packages/server/src/http/openapi/notes.ts'
import { pathsOf } from '../../packages/server/src/http/openapi/openapi.ts'
import { inputTable, outputTable, typeOf } from './fields.ts'
import { printJson } from './json.ts'
import { messagesFile, messagesPage } from './messages-page.ts'
import { referenceIndex } from './reference-index.ts'

export const referenceFolder = 'docs/reference'

export interface Family {
  title: string
  description: string
  file: string
  operations: readonly (readonly [name: string, operation: Operation])[]
}

/** Returns the pages of the reference by path: one per family, the index, and the messages of `/realtime`. */
export function deriveReference(): Record<string, string> {
  const all = Object.entries(operations as Record<string, Record<string, Operation>>)
    .filter(([, verbs]) => Object.keys(verbs).length > 0)
    .map(([family, verbs]): Family => ({
      ...families[family as keyof typeof families],
      file: `${family.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}.md`,
      operations: Object.entries(verbs).map(([verb, operation]) => [`${family}.${verb}`, operation] as const),
    }))
  return Object.fromEntries([
    [`${referenceFolder}/README.md`, referenceIndex(all)],
    [`${referenceFolder}/${messagesFile}`, messagesPage()],
    ...all.map((family) => [`${referenceFolder}/${family.file}`, familyPage(family)]),
  ])
}

const familyPage = ({ title, description, operations }: Family) =>
  `<!-- Derived from the operation table by "npm run derive". Do not edit. -->

# ${title}

${description}

${operations.map(([name, { summary }]) => `- [\`${name}\`](#${anchor(name)}): ${summary}`).join('\n')}

${operations.map(([name, operation]) => operationSection(name, operation)).join('\n')}`

export const anchor = (name: string) => name.replace('.', '').toLowerCase()

function operationSection(name: string, operation: Operation): string {
  const { summary, description, input, output, message, v2Message, paging = [] } = operation
  const other = v2Message ? `; under v2, ${v2Message.when}, it is \`${v2Message.message}\`` : ''
  const inputFields = inputTable(input)
  const outputFields = outputTable(output, 'data')
  const tokens = paging.map((key) => `\`${key}\``).join(' and ')
  return paragraphs(
    `## ${name}`,
    [summary, description, ...notesOf(operation)].filter(Boolean).join(' '),
    pathsOf(operation)
      .map(({ url, isAlias }) => `- \`POST ${url}\`${isAlias ? ' (deprecated alias)' : ''}`)
      .join('\n'),
    `${accessOf[operation.access]}${operation.effect === 'write' ? ' Accepts an [`Idempotency-Key`](README.md#retrying-a-write).' : ''}`,
    inputFields
      ? `**Input**, inside \`data\`${bodyNote(operation)}:\n\n${inputFields}`
      : `**Input**: none${bodyNote(operation)}.`,
    `\`\`\`sh\n${curl(operation)}\n\`\`\``,
    `**Output**: \`data\` is ${article(typeOf(output))}.${tokens ? ` If there are more pages, ${tokens} ${paging.length > 1 ? 'are' : 'is'} beside \`data\`.` : ''} The message is \`${message}\`${other}${outputFields && `\n\n${outputFields}`}`,
    `\`\`\`json\n${printJson(successEnvelope(operation, operation.versions.at(-1) as ApiVersion), 100)}\n\`\`\``,
    errorTable(operation),
  )
}

const paragraphs = (...parts: string[]) => `${parts.filter(Boolean).join('\n\n')}\n`

const article = (type: string) =>
  type === 'null' || type === 'any' ? `\`${type}\`` : /^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`

const accessOf: Record<Access, string> = {
  public: 'Access: [public](README.md#access).',
  workspace: 'Access: [workspace](README.md#access), with `x-svc-workspace-id` and `x-svc-auth-token`.',
  apiKey: 'Access: [API key](README.md#access), with `x-svc-api-key` and `x-svc-auth-token`.',
  user: 'Access: [API key or user](README.md#access), with `x-svc-api-key` and `x-svc-auth-token`, or with `Authorization: Bearer` and a user token.',
  body: 'Access: [API key](README.md#access), with `apiKey` and `authToken` inside `data` or in the headers.',
}

const bodyNote = ({ body }: Operation) =>
  body === 'optional' ? '; the body is optional' : body === 'flat' ? ' or at the top level of the body' : ''

const headersOf: Record<Access, readonly string[]> = {
  public: [],
  workspace: ['x-svc-workspace-id: $WORKSPACE_ID', 'x-svc-auth-token: $WORKSPACE_AUTH_TOKEN'],
  apiKey: ['x-svc-api-key: $API_KEY', 'x-svc-auth-token: $AUTH_TOKEN'],
  user: ['x-svc-api-key: $API_KEY', 'x-svc-auth-token: $AUTH_TOKEN'],
  body: [],
}

function curl(operation: Operation): string {
  const [{ url } = { url: '' }] = pathsOf(operation)
  const body = printJson({ data: operation.example.input }, 100).replaceAll("'", `'\\''`)
  return [
    `curl http://localhost:4000${url}`,
    ...[
      "'content-type: application/json'",
      ...headersOf[operation.access].map((header) => `"${header}"`),
    ].map((header) => `-H ${header}`),
    `-d '${body}'`,
  ].join(' \\\n  ')
}

function errorTable(operation: Operation): string {
  const errors = [...missingInput(operation), ...ownErrors(operation)]
  if (errors.length === 0) return '**Errors**: the [common errors](README.md#errors).'
  const rows = errors.map(
    (error) => `| ${httpStatusOfError(error)} | \`${error.status}\` | \`${error.message}\` |`,
  )
  return paragraphs(
    '**Errors**, besides the [common errors](README.md#errors):',
    ['| HTTP | Status | Message |', '|---|---|---|', ...rows].join('\n'),
    ...errors.filter(({ details }) => details !== undefined).map(withDetails),
  ).trimEnd()
}

const withDetails = (error: ErrorExample) =>
  `\`${error.message}\` has \`details\`:\n\n\`\`\`json\n${printJson(envelopeOf(error), 100)}\n\`\`\``
