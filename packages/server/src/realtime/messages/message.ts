import { type ClientMessageDeclaration, clientMessages } from '@plenum/protocol/messages'
import type { ClientMessage } from '@plenum/protocol/realtime'
import type { Schema } from '../../platform/validation/explain.ts'
import { createValidator, type Validator } from '../../platform/validation/validator.ts'
import {
  type JsonObject,
  malformed,
  type Malformed,
  type ParsedMessage,
  parseMessage,
  type StoredFields,
} from './parse.ts'

type WithJson<Message> = Message extends { data: object }
  ? Omit<Message, 'data'> & { data: string }
  : Message extends { data?: object | null }
    ? Omit<Message, 'data'> & { data: string | null | undefined }
    : Message extends { input: object }
      ? Omit<Message, 'input'> & { input: string }
      : Message

/** A message whose `data` or `input` is a string of JSON, as `JSON.stringify` writes it. */
export type ReadMessage = WithJson<ClientMessage>

/** A message of one type. */
export type MessageOf<Type extends ReadMessage['type']> = Extract<ReadMessage, { type: Type }>

/** The request, document or editor that a message is about. */
export interface Subject {
  id?: number
  ref?: number
  channel?: number
}

export type ReadResult =
  | { message: ReadMessage }
  | Malformed
  /** The message is well formed, but has data that cannot be stored. */
  | { fault: 'unstorable'; reason: string; subject: Subject }

/** Reads the message in a text frame. Drops unknown fields. */
export const readMessage = (bytes: Buffer, maxBytes: number): ReadResult =>
  checkMessage(parseMessage(bytes, maxBytes, storedFields))

/** Validates a parsed message by its declaration. Drops unknown fields. */
export function checkMessage(parsed: ParsedMessage | Malformed): ReadResult {
  if ('fault' in parsed) return parsed
  const { fields, stored, unstorable } = parsed
  const reader = readers.get(fields.type)
  if (!reader) return malformed(explainType(fields.type))
  const fault = reader.validate(fields)
  if (fault !== undefined) return malformed(fault)
  if (unstorable !== undefined) {
    const { ref, id, channel } = fields as Subject
    return { fault: 'unstorable', reason: unstorable, subject: { ref, id, channel } }
  }
  const message = reader.pick(fields)
  message.type = fields.type
  if (stored !== undefined && reader.storedField !== undefined) message[reader.storedField] = stored
  return { message: message as unknown as ReadMessage }
}

function explainType(type: unknown): string {
  if (type === undefined) return 'type is required.'
  return typeof type === 'string' ? 'type is not a known message type.' : 'type must be a string.'
}

interface Reader {
  validate: Validator
  pick: Pick
  storedField: string | undefined
}

const readers: ReadonlyMap<unknown, Reader> = new Map(
  Object.entries<ClientMessageDeclaration>(clientMessages).map(([type, { fields }]) => [
    type,
    { validate: createValidator(fields), pick: createPick(fields), storedField: storedFieldOf(fields) },
  ]),
)

/** The fields that are stored, by the type of their message. */
export const storedFields: StoredFields = Object.fromEntries(
  [...readers].flatMap(([type, { storedField }]) => (storedField === undefined ? [] : [[type, storedField]])),
)

function storedFieldOf({ properties = {} }: Schema): string | undefined {
  return Object.keys(properties).find((name) => properties[name]?.['x-stored'])
}

type Pick = (value: JsonObject) => JsonObject

/** Creates a function that copies the declared fields of a valid value, so that no client makes the server keep others. */
function createPick({ properties = {} }: Schema): Pick {
  const fields = Object.entries(properties).map(
    ([name, field]) => [name, field.properties ? createPick(field) : undefined] as const,
  )
  return (value) => {
    const picked: JsonObject = {}
    for (const [name, pick] of fields) {
      const field = value[name]
      if (field !== undefined) picked[name] = pick ? pick(field as JsonObject) : field
    }
    return picked
  }
}
