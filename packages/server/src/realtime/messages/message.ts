import { isUtf8 } from 'node:buffer'
import {
  type ClientMessage,
  limits,
  onlineStatuses,
  type Position,
  type Topic,
} from '@plenum/protocol/realtime'
import { InvalidJson } from '../../platform/json/invalid-json.ts'
import { JsonScanner } from '../../platform/json/json-scanner.ts'
import { unstorableText } from '../../platform/json/unstorable-text.ts'

/** Thrown for a text frame that is not a message of the protocol. If a field is wrong, the error names it. */
export class MalformedMessage extends Error {}

/** Thrown for a well-formed message with data that cannot be stored. */
export class UnstorableMessage extends Error {
  /** The document, request or editor that the message is about. */
  readonly subject: { ref?: number; id?: number; channel?: number }

  constructor(message: string, { ref, id, channel }: UnstorableMessage['subject']) {
    super(message)
    this.subject = { ref, id, channel }
  }
}

type WithJson<Message> = Message extends { data: object }
  ? Omit<Message, 'data'> & { data: string }
  : Message extends { data?: object | null }
    ? Omit<Message, 'data'> & { data: string | null | undefined }
    : Message

/** A message whose `data` is a string of JSON, as `JSON.stringify` writes it. */
export type ReadMessage = WithJson<ClientMessage>

/** Reads the message in a text frame. Drops unknown fields. Throws `MalformedMessage` or `UnstorableMessage`. */
export function readMessage(bytes: Buffer, maxBytes: number): ReadMessage {
  if (bytes.length > maxBytes) throw new MalformedMessage(`The message must have at most ${maxBytes} bytes.`)
  if (!isUtf8(bytes)) throw new MalformedMessage('The message is not UTF-8.')
  const hasUnstorableText = scan(bytes)
  const value = JSON.parse(bytes.toString()) as JsonObject
  const fields = new Fields(value)
  const type = fields.choice('type', types)
  const message = readers[type](fields)
  if (hasUnstorableText && ('data' in message || 'name' in message)) {
    const field = 'data' in message ? 'data' : 'name'
    const fault = unstorableText(value[field], field)
    if (fault) throw new UnstorableMessage(fault, message)
  }
  return message
}

/** The result of reading a message, as a value that a thread can send. */
export type ReadResult =
  | { message: ReadMessage }
  | { fault: 'malformed'; reason: string }
  | { fault: 'unstorable'; reason: string; subject: UnstorableMessage['subject'] }

/** Like `readMessage`, but returns a fault where that throws. */
export function tryReadMessage(bytes: Buffer, maxBytes: number): ReadResult {
  try {
    return { message: readMessage(bytes, maxBytes) }
  } catch (error) {
    if (error instanceof MalformedMessage) return { fault: 'malformed', reason: error.message }
    if (!(error instanceof UnstorableMessage)) throw error
    return { fault: 'unstorable', reason: error.message, subject: error.subject }
  }
}

const { jsonDepth: depth, jsonKeys: keys, jsonValues: values } = limits
/** Longer keys are not named in errors, because a close reason has at most 123 bytes. All fields have shorter names. */
const maxFieldLength = 32

/** Checks the JSON without building values. Returns whether it has strings that cannot be stored. */
function scan(bytes: Buffer): boolean {
  const scanner = new JsonScanner(bytes, { depth, keys, values }, { subject: 'The message' })
  try {
    scanner.scan()
  } catch (error) {
    if (!(error instanceof InvalidJson)) throw error
    const { topKey } = scanner
    throw new MalformedMessage(
      topKey !== '' && topKey.length <= maxFieldLength ? `${topKey}: ${error.message}` : error.message,
    )
  }
  return scanner.hasUnstorableText
}

type Types = ClientMessage['type']
type Readers = { [Type in Types]: (fields: Fields) => Extract<ReadMessage, { type: Type }> }

const topics: readonly Topic[] = ['presence', 'liveState', 'comments', 'notifications']
const contentTypes = ['text', 'map', 'array', 'xml'] as const

const readers: Readers = {
  auth: (fields) => ({ type: 'auth', token: fields.text('token', limits.firstMessageBytes) }),
  open: (fields) => ({
    type: 'open',
    ref: fields.natural('ref'),
    organizationId: fields.text('organizationId'),
    documentId: fields.text('documentId'),
    topics: fields.choices('topics', topics),
    since: fields.optional('since', () => readPosition(fields.fields('since'))),
  }),
  close: (fields) => ({ type: 'close', ref: fields.natural('ref') }),
  setPresence: (fields) => ({
    type: 'setPresence',
    ref: fields.natural('ref'),
    status: fields.optional('status', () => fields.choice('status', onlineStatuses)),
    data: fields.optional('data', () => fields.jsonOrNull('data')),
  }),
  setLiveState: (fields) => ({
    type: 'setLiveState',
    ref: fields.natural('ref'),
    id: fields.natural('id'),
    liveStateDataId: fields.text('liveStateDataId'),
    data: fields.json('data'),
    merge: fields.optional('merge', () => fields.flag('merge')),
  }),
  openEditor: (fields) => ({
    type: 'openEditor',
    ref: fields.natural('ref'),
    channel: fields.natural('channel'),
    editorId: fields.text('editorId'),
    contentType: fields.optional('contentType', () => fields.choice('contentType', contentTypes)),
    contentKey: fields.optional('contentKey', () => fields.text('contentKey')),
  }),
  closeEditor: (fields) => ({ type: 'closeEditor', channel: fields.natural('channel') }),
  listVersions: (fields) => ({
    type: 'listVersions',
    channel: fields.natural('channel'),
    id: fields.natural('id'),
    pageSize: fields.optional('pageSize', () => fields.natural('pageSize')),
    pageToken: fields.optional('pageToken', () => fields.text('pageToken', limits.pageTokenLength)),
  }),
  addVersion: (fields) => ({
    type: 'addVersion',
    channel: fields.natural('channel'),
    id: fields.natural('id'),
    name: fields.text('name'),
  }),
  restoreVersion: (fields) => ({
    type: 'restoreVersion',
    channel: fields.natural('channel'),
    id: fields.natural('id'),
    versionId: fields.text('versionId'),
  }),
  ping: () => ({ type: 'ping' }),
}

export const types = Object.keys(readers) as Types[]

const readPosition = (fields: Fields): Position => ({
  epoch: fields.text('epoch'),
  seq: fields.natural('seq'),
})

type JsonObject = Record<string, unknown>

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Reads the fields of an object and checks their types. */
class Fields {
  readonly #object: JsonObject
  /** The path of the object, which precedes the names of fields in errors. */
  readonly #path: string

  constructor(value: unknown, path = '') {
    if (!isObject(value)) throw new MalformedMessage('A message must be an object.')
    this.#object = value
    this.#path = path
  }

  #get(name: string): unknown {
    return Object.hasOwn(this.#object, name) ? this.#object[name] : undefined
  }

  #fail(name: string, expected: string): never {
    throw new MalformedMessage(`${this.#path}${name} must be ${expected}.`)
  }

  optional<T>(name: string, read: () => T): T | undefined {
    return this.#get(name) === undefined ? undefined : read()
  }

  natural(name: string): number {
    const value = this.#get(name)
    if (Number.isSafeInteger(value) && (value as number) >= 0) return value as number
    return this.#fail(name, 'an integer, 0 or greater')
  }

  text(name: string, maxLength = 1000): string {
    const value = this.#get(name)
    if (typeof value !== 'string' || value === '') return this.#fail(name, 'a string that is not empty')
    return value.length <= maxLength ? value : this.#fail(name, `at most ${maxLength} characters long`)
  }

  flag(name: string): boolean {
    const value = this.#get(name)
    return typeof value === 'boolean' ? value : this.#fail(name, 'a boolean')
  }

  object(name: string): JsonObject {
    const value = this.#get(name)
    return isObject(value) ? value : this.#fail(name, 'an object')
  }

  /** Returns the JSON of the field, which must be an object. */
  json(name: string): string {
    return JSON.stringify(this.object(name))
  }

  jsonOrNull(name: string): string | null {
    return this.#get(name) === null ? null : this.json(name)
  }

  fields(name: string): Fields {
    return new Fields(this.object(name), `${this.#path}${name}.`)
  }

  choice<T extends string>(name: string, choices: readonly T[]): T {
    const value = this.#get(name)
    return choices.find((one) => one === value) ?? this.#fail(name, `one of ${choices.join(', ')}`)
  }

  choices<T extends string>(name: string, choices: readonly T[]): T[] {
    const value = this.#get(name)
    if (!Array.isArray(value)) return this.#fail(name, 'an array')
    const chosen = choices.filter((one) => value.includes(one))
    const isKnown = value.every((one) => choices.includes(one as T))
    return isKnown ? chosen : this.#fail(name, `a list of ${choices.join(', ')}`)
  }
}
