import { clientMessages, type MessageDeclaration, serverMessages } from '@plenum/protocol/messages'
import { capital } from '../../packages/server/src/http/openapi/schemas.ts'
import type { Field } from './field-notes.ts'
import { comment } from './js-doc.ts'
import { declarationText, namedSchemas } from './type-text.ts'

export const messageTypesFolder = 'packages/protocol/src/messages/types'

type Messages = Record<string, MessageDeclaration>

const header = '// Derived from the messages of /realtime by "npm run derive". Do not edit.\n'

/**
 * Returns the types of the messages of `/realtime` as plain interfaces, by path. They are derived because the client must
 * not depend on the schema library, not even with its types.
 */
export function deriveMessageTypes(): Record<string, string> {
  const used = new Set<string>()
  const files = {
    [`${messageTypesFolder}/client-messages.ts`]: messagesFile(
      'ClientMessage',
      'A message that a client can send.',
      clientMessages,
      used,
    ),
    [`${messageTypesFolder}/server-messages.ts`]: messagesFile(
      'ServerMessage',
      'A message that the server can send.',
      serverMessages,
      used,
    ),
  }
  const shared: string[] = []
  // `declarationText` adds the named schemas that a schema uses to the set, so the loop reaches them too.
  for (const name of used) {
    const schema = namedSchemas.get(name) as Field
    const note = schema.properties ? comment([schema.description ?? ''], '') : ''
    shared.push(`${note}${declarationText(name, schema, used)}`)
  }
  return { ...files, [`${messageTypesFolder}/shared.ts`]: [header, ...shared].join('\n') }
}

/** Returns a file with the type of each message and their union. Adds the named schemas that it uses to `allUsed`. */
function messagesFile(union: string, note: string, messages: Messages, allUsed: Set<string>): string {
  const used = new Set<string>()
  const types = Object.entries(messages).map(([type, message]) => messageText(type, message, used))
  const members = Object.keys(messages).map((type) => `  | ${nameOf(type)}\n`)
  for (const name of used) allUsed.add(name)
  return [
    `${header}import type { ${[...used].join(', ')} } from './shared.ts'\n`,
    ...types,
    `${comment([note], '')}export type ${union} =\n${members.join('')}`,
  ].join('\n')
}

const nameOf = (type: string) => `${capital(type)}Message`

function messageText(
  type: string,
  { summary, description = '', fields }: MessageDeclaration,
  used: Set<string>,
): string {
  const { properties, required = [] } = fields as Field
  const schema: Field = {
    properties: { type: { 'x-typescript': `'${type}'` }, ...properties },
    required: ['type', ...required],
  }
  return `${comment([`${summary} ${description}`.trim()], '')}${declarationText(nameOf(type), schema, used)}`
}
