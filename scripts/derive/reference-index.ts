import type { Access } from '@plenum/protocol'
import {
  httpStatusOfError,
  type StandardError,
  standardErrors,
} from '../../packages/server/src/http/openapi/errors.ts'
import { pathsOf } from '../../packages/server/src/http/openapi/openapi.ts'
import { anchor, type Family } from './reference.ts'

/** Returns the index page of the reference: what applies to all operations, and a list of all operations. */
export const referenceIndex = (families: readonly Family[]) =>
  `<!-- Derived from the operation table by "npm run derive". Do not edit. -->

# Reference

All operations of the interface. Every server has the same reference as a page at \`/docs\` and as OpenAPI at
\`/openapi.json\` ([\`openapi.json\`](../../openapi.json)). The messages of the WebSocket protocol have
[a page of their own](realtime.md).

## Requests and answers

Every operation is a \`POST\` with a JSON body. The input is inside \`data\`:

\`\`\`json
{ "data": { "organizationIds": ["org_1"] } }
\`\`\`

A success is HTTP 200, or 202 if the work continues after the answer:

\`\`\`json
{ "result": { "status": "success", "message": "…", "data": {} } }
\`\`\`

An operation on several items answers with the outcome of each item, and is a success even if every item failed. Two
kinds of operations differ: those on allowed domains and, under v2, those on documents answer an error if an item failed.
The error has all outcomes in \`details\`, and the items that succeeded are applied.

A failure has the HTTP code of its status, and sometimes \`details\`:

\`\`\`json
{ "error": { "status": "INVALID_ARGUMENT", "message": "organizationIds is required." } }
\`\`\`

An operation ignores unknown keys of its input, unless its description says that it stores them. Every answer has a header
\`x-request-id\`, which the log of the server contains too.

## Access

| Level | Headers | Where the values come from |
|---|---|---|
| public | none | |
| workspace | \`x-svc-workspace-id\`, \`x-svc-auth-token\` | \`id\` and \`authToken\` of [\`workspace.create\`](workspace.md#workspacecreate) |
| API key | \`x-svc-api-key\`, \`x-svc-auth-token\` | a key of \`apiKeyList\`, and its token from [\`authTokens.get\`](auth-tokens.md#authtokensget) |
| API key or user | those of an API key, or \`Authorization: Bearer\` and a user token | the token is from [\`auth.generateToken\`](auth.md#authgeneratetoken) |

With a user token, an operation acts as that user and sees what the user may see. The user is the author of new comments,
and \`userId\`, if it is sent, must be the user.

Users can call ${operationsOfUsers(families)}.

## Versions

The version is the first part of the path. An operation with a path under both versions behaves the same under both, unless
its description says otherwise. v1 ignores the fields that only v2 has.

## Ids

You choose the ids; paths and URLs are allowed. An id has at most 256 characters, is not blank, contains no control
characters, and is not \`.\` or \`..\`. In the name of an editor, \`organizationId/documentId/editorId\`, each id is
percent-encoded ([editors](../guides/editors.md#name-an-editor)).

## Pages

A read of a list takes \`pageSize\` and returns \`nextPageToken\` if there are more items. To read the next page, send the
token as \`pageToken\`, with the other fields unchanged.

## Retrying a write

Send a write with a header \`idempotency-key\` of 1 to 255 visible ASCII characters, and the server applies it once. The
same request within 24 hours gets the first answer again, with the header \`idempotent-replayed: true\`.

## Errors

The operations in the fourth column share these errors, in the order in which the server checks a request:

| HTTP | Status | Message | Operations | When |
|---|---|---|---|---|
${standardErrors.map(errorRow).join('\n')}

\`ABORTED\`, \`UNAVAILABLE\` and \`RESOURCE_EXHAUSTED\` for a rate limit have a header \`retry-after\` with the seconds to wait.

## Operations

${families.map(familyTable).join('\n\n')}
`

const operationsOfUsers = (families: readonly Family[]) =>
  families
    .flatMap(({ file, operations }) => operations.map(([name, { access }]) => ({ file, name, access })))
    .filter(({ access }) => access === 'user')
    .map(({ file, name }) => `[\`${name}\`](${file}#${anchor(name)})`)
    .join(', ')

const errorRow = (error: StandardError) =>
  `| ${httpStatusOfError(error)} | \`${error.status}\` | \`${error.message}\` | ${whereOf(error)} | ${error.when} |`

const levels: Record<Access, string> = {
  public: 'public',
  workspace: 'workspace',
  apiKey: 'API key',
  user: 'API key or user',
  body: 'API key in `data`',
}

function whereOf({ access, effect, requires }: StandardError): string {
  if (requires) return `those that require \`${requires}\``
  if (effect) return 'writes'
  return access ? access.map((level) => levels[level]).join(', ') : 'all'
}

const familyTable = ({ title, description, file, operations }: Family) =>
  `### [${title}](${file})

${description}

| Operation | Path | |
|---|---|---|
${operations
  .map(([name, operation]) => {
    const paths = pathsOf(operation).map(({ url }) => `\`${url}\``)
    return `| [\`${name}\`](${file}#${anchor(name)}) | ${paths.join('<br>')} | ${operation.summary} |`
  })
  .join('\n')}`
