import type { Access } from '@plenum/protocol'
import {
  httpStatusOfError,
  type StandardError,
  standardErrors,
} from '../../packages/server/src/http/openapi/errors.ts'
import { pathsOf } from '../../packages/server/src/http/openapi/notes.ts'
import { anchor, type Family } from './reference.ts'

/** What holds for every operation, and where each of them is described. */
export const referenceIndex = (families: readonly Family[]) =>
  `<!-- Derived from the table of operations by "npm run derive". Do not edit. -->

# Reference

Every operation of the interface. The same is served by each server as a page at \`/docs\` and as
[\`openapi.json\`](../../openapi.json) at \`/openapi.json\`.

## Requests and answers

Every operation is a \`POST\` with a JSON body, in which the input stands inside \`data\`:

\`\`\`json
{ "data": { "organizationIds": ["org_1"] } }
\`\`\`

A success is HTTP 200. Where an operation takes several items, what became of each item stands inside the answer, which
is a success even if every item failed. The exceptions say so in their text: the domains of a key and the documents of
\`v2\` answer an error then, with every item in its \`details\`, and keep what was done:

\`\`\`json
{ "result": { "status": "success", "message": "…", "data": {} } }
\`\`\`

A failure has the HTTP code of its status, and sometimes \`details\`:

\`\`\`json
{ "error": { "status": "INVALID_ARGUMENT", "message": "organizationIds is required." } }
\`\`\`

Keys of the input that an operation does not know are ignored, unless its text says that they are kept. Every answer has
a header \`x-request-id\`, which the server's log mentions too.

## Access

| Level | Sent | Where it comes from |
|---|---|---|
| public | nothing | |
| workspace | \`x-svc-workspace-id\`, \`x-svc-auth-token\` | \`id\` and \`authToken\` of [\`workspace.create\`](workspace.md#workspacecreate) |
| API key | \`x-svc-api-key\`, \`x-svc-auth-token\` | a key of \`apiKeyList\`, and its token from [\`authTokens.get\`](auth-tokens.md#authtokensget) |

## Versions

The version is the first part of the path. Where an operation has a path under both, it behaves alike under both unless
its text says otherwise; fields that only v2 knows are ignored under v1.

## Ids

Ids are chosen by you; paths and URLs are fine. They have at most 256 characters, are not blank, contain no control
characters, and are not \`.\` or \`..\`. In the name of an editor, \`organizationId/documentId/editorId\`, each id is
percent-encoded ([editors](../guides/editors.md#names-and-tokens)).

## Pages

A read that can be long takes \`pageSize\` and answers \`nextPageToken\` while there is more. Send it back as \`pageToken\`,
with the other fields unchanged.

## Sending a write again

With a header \`idempotency-key\` of 1 to 255 visible ASCII characters a write has its effect once: the same request
within 24 hours gets the first answer again, with the header \`idempotent-replayed: true\`.

## Errors

What surrounds the operations answers these, in the order in which a request meets them:

| HTTP | Status | Message | Operations | When |
|---|---|---|---|---|
${standardErrors.map(errorRow).join('\n')}

\`ABORTED\`, \`RESOURCE_EXHAUSTED\` by rate, and \`UNAVAILABLE\` carry a header \`retry-after\` with the seconds to wait.

## Operations

${families.map(familyTable).join('\n\n')}
`

const errorRow = (error: StandardError) =>
  `| ${httpStatusOfError(error)} | \`${error.status}\` | \`${error.message}\` | ${whereOf(error)} | ${error.when} |`

const levels: Record<Access, string> = {
  public: 'public',
  workspace: 'workspace',
  apiKey: 'API key',
  body: 'API key in `data`',
}

function whereOf({ access, effect, requires }: StandardError): string {
  if (requires) return `those that need \`${requires}\``
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
