import {
  type ClientMessageDeclaration,
  clientMessages,
  editorFrameContents,
  type MessageDeclaration,
  serverMessages,
} from '@plenum/protocol/messages'
import { editorFrames } from '@plenum/protocol/realtime'
import { inputTable, outputTable } from './fields.ts'
import { printJson } from './json.ts'

export const messagesFile = 'realtime.md'

/** Returns the reference page of the messages of `/realtime`. */
export function messagesPage(): string {
  const sent = Object.entries<ClientMessageDeclaration>(clientMessages)
  const received = Object.entries<MessageDeclaration>(serverMessages)
  return `<!-- Derived from the messages of /realtime by "npm run derive". Do not edit. -->

# Messages of /realtime

The messages of the WebSocket protocol at \`/realtime\`. The [guide](../guides/realtime.md) shows an example session, and explains how the messages belong together. A text frame is one JSON message; its field \`type\` has the name of the message. A message that does not fit its table closes the connection with 4400 and a reason that names the field. The server ignores fields that it does not know, and so should the client.

## Messages of the client

${sent.map(line).join('\n')}

${sent.map(clientSection).join('\n\n')}

## Messages of the server

${received.map(line).join('\n')}

${received.map(serverSection).join('\n\n')}

## Binary frames

A binary frame belongs to an editor. It begins with two numbers: the channel of the editor, and the kind of the frame. A number is an unsigned varint (LEB128, \`varUint\` in lib0): seven bits per byte, lowest bits first, and the top bit is set on all bytes except the last. \`300\` is \`ac 02\`. State vectors, updates and strings (UTF-8) start with their length, as a number. The [guide](../guides/realtime.md#frames) explains the order of the frames.

| Kind | Name | The client sends | The server sends | Meaning |
|---|---|---|---|---|
${Object.entries(editorFrames).map(frameRow).join('\n')}
`
}

const line = ([type, { summary }]: [string, MessageDeclaration]) =>
  `- [\`${type}\`](#${anchor(type)}): ${summary}`

const anchor = (type: string) => type.toLowerCase()

const link = (type: string) => `[\`${type}\`](#${anchor(type)})`

const section = (type: string, { summary, description, example }: MessageDeclaration, ...parts: string[]) =>
  [
    `### ${type}`,
    [summary, description].filter(Boolean).join(' '),
    ...parts.filter(Boolean),
    `\`\`\`json\n${printJson({ type, ...example }, 100)}\n\`\`\``,
  ].join('\n\n')

function clientSection([type, message]: [string, ClientMessageDeclaration]): string {
  const { fields, answers, done, errors = {}, example } = message
  const parts = [section(type, message, inputTable(fields))]
  if (done) {
    const { id } = example as { id?: number }
    const table = outputTable(done.fields, '')
    parts.push(
      `**Answer**: ${link('done')}${table ? ' with these fields' : ''}, or ${link('error')}.`,
      table,
      `\`\`\`json\n${printJson({ type: 'done', id, ...done.example }, 100)}\n\`\`\``,
    )
  } else parts.push(`**Answer**: ${answerText(answers)}.`)
  const rows = Object.entries(errors).map(([status, when]) => `| \`${status}\` | ${when} |`)
  if (rows.length > 0) parts.push(['| Status of an error | When |', '|---|---|', ...rows].join('\n'))
  return parts.filter(Boolean).join('\n\n')
}

function answerText(answers: readonly string[]): string {
  if (answers.length === 0) return 'none'
  return answers.join() === 'error' ? `none, or ${link('error')}` : orList(answers.map(link))
}

const serverSection = ([type, message]: [string, MessageDeclaration]) =>
  section(type, message, outputTable(message.fields, ''))

const orList = (items: readonly string[]) =>
  items.length < 2 ? items.join('') : `${items.slice(0, -1).join(', ')} or ${items.at(-1)}`

function frameRow([name, kind]: [string, number]): string {
  const { client, server, meaning } = editorFrameContents[name as keyof typeof editorFrames]
  const parts = (contents: readonly string[] | undefined) =>
    contents ? ['channel', String(kind), ...contents].join(', ') : '–'
  return `| ${kind} | ${name} | ${parts(client)} | ${parts(server)} | ${meaning} |`
}
