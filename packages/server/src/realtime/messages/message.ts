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

/** A frame that is no message; says which field is wrong. */
export class Malformed extends Error {}

/** A message that is well formed and cannot be done: its data cannot be stored. */
export class Unstorable extends Error {
  readonly subject: { ref?: number; id?: number; channel?: number }

  constructor(message: string, { ref, id, channel }: Unstorable['subject']) {
    super(message)
    this.subject = { ref, id, channel }
  }
}

type WithJson<Message> = Message extends { data: object }
  ? Omit<Message, 'data'> & { data: string }
  : Message extends { data?: object | null }
    ? Omit<Message, 'data'> & { data: string | null | undefined }
    : Message

/** A message whose `data` is JSON, as `JSON.stringify` writes it. */
export type ReadMessage = WithJson<ClientMessage>

/** The message in a text frame. Throws `Malformed` or `Unstorable`; fields it does not know are left out. */
export function readMessage(bytes: Buffer, mostBytes: number): ReadMessage {
  if (bytes.length > mostBytes) throw new Malformed(`A message has at most ${mostBytes} bytes here.`)
  if (!isUtf8(bytes)) throw new Malformed('The message is not UTF-8.')
  const hasUnstorableText = scan(bytes)
  const value = JSON.parse(bytes.toString()) as JsonObject
  const fields = new Fields(value)
  const type = fields.choice('type', types)
  const message = readers[type](fields)
  if (hasUnstorableText && ('data' in message || 'name' in message)) {
    const field = 'data' in message ? 'data' : 'name'
    const fault = unstorableText(value[field], field)
    if (fault) throw new Unstorable(fault, message)
  }
  return message
}

/** What became of reading a message, as a thread can tell it. */
export type Reading =
  | { message: ReadMessage }
  | { fault: 'malformed'; reason: string }
  | { fault: 'unstorable'; reason: string; subject: Unstorable['subject'] }

export function tryReadMessage(bytes: Buffer, mostBytes: number): Reading {
  try {
    return { message: readMessage(bytes, mostBytes) }
  } catch (error) {
    if (error instanceof Malformed) return { fault: 'malformed', reason: error.message }
    if (!(error instanceof Unstorable)) throw error
    return { fault: 'unstorable', reason: error.message, subject: error.subject }
  }
}

const { jsonDepth: depth, jsonKeys: keys, jsonValues: values } = limits
/** Longer than the names of all fields. A reason of a closed connection has at most 123 bytes. */
const maxFieldLength = 32

/** Whether it has strings that cannot be stored. */
function scan(bytes: Buffer): boolean {
  const scanner = new JsonScanner(bytes, { depth, keys, values }, { subject: 'The message' })
  try {
    scanner.scan()
  } catch (error) {
    if (!(error instanceof InvalidJson)) throw error
    const { topKey } = scanner
    throw new Malformed(
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
    ref: fields.count('ref'),
    organizationId: fields.text('organizationId'),
    documentId: fields.text('documentId'),
    topics: fields.choices('topics', topics),
    since: fields.optional('since', () => readPosition(fields.fields('since'))),
  }),
  close: (fields) => ({ type: 'close', ref: fields.count('ref') }),
  setPresence: (fields) => ({
    type: 'setPresence',
    ref: fields.count('ref'),
    status: fields.optional('status', () => fields.choice('status', onlineStatuses)),
    data: fields.optional('data', () => fields.jsonOrNull('data')),
  }),
  setLiveState: (fields) => ({
    type: 'setLiveState',
    ref: fields.count('ref'),
    id: fields.count('id'),
    liveStateDataId: fields.text('liveStateDataId'),
    data: fields.json('data'),
    merge: fields.optional('merge', () => fields.flag('merge')),
  }),
  openEditor: (fields) => ({
    type: 'openEditor',
    ref: fields.count('ref'),
    channel: fields.count('channel'),
    editorId: fields.text('editorId'),
    contentType: fields.optional('contentType', () => fields.choice('contentType', contentTypes)),
    contentKey: fields.optional('contentKey', () => fields.text('contentKey')),
  }),
  closeEditor: (fields) => ({ type: 'closeEditor', channel: fields.count('channel') }),
  listVersions: (fields) => ({
    type: 'listVersions',
    channel: fields.count('channel'),
    id: fields.count('id'),
    pageSize: fields.optional('pageSize', () => fields.count('pageSize')),
    pageToken: fields.optional('pageToken', () => fields.text('pageToken', limits.pageTokenLength)),
  }),
  addVersion: (fields) => ({
    type: 'addVersion',
    channel: fields.count('channel'),
    id: fields.count('id'),
    name: fields.text('name'),
  }),
  restoreVersion: (fields) => ({
    type: 'restoreVersion',
    channel: fields.count('channel'),
    id: fields.count('id'),
    versionId: fields.text('versionId'),
  }),
  ping: () => ({ type: 'ping' }),
}

export const types = Object.keys(readers) as Types[]

const readPosition = (fields: Fields): Position => ({ epoch: fields.text('epoch'), seq: fields.count('seq') })

type JsonObject = Record<string, unknown>

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The fields of an object as they were sent, each read as what it must be. */
class Fields {
  readonly #object: JsonObject
  /** Where the object stands, for the names in messages. */
  readonly #path: string

  constructor(value: unknown, path = '') {
    if (!isObject(value)) throw new Malformed('A message is an object.')
    this.#object = value
    this.#path = path
  }

  #get(name: string): unknown {
    return Object.hasOwn(this.#object, name) ? this.#object[name] : undefined
  }

  #fail(name: string, expected: string): never {
    throw new Malformed(`${this.#path}${name} must be ${expected}.`)
  }

  optional<T>(name: string, read: () => T): T | undefined {
    return this.#get(name) === undefined ? undefined : read()
  }

  count(name: string): number {
    const value = this.#get(name)
    if (Number.isSafeInteger(value) && (value as number) >= 0) return value as number
    return this.#fail(name, 'an integer from 0 on')
  }

  text(name: string, mostLength = 1000): string {
    const value = this.#get(name)
    if (typeof value !== 'string' || value === '') return this.#fail(name, 'a string that is not empty')
    return value.length <= mostLength ? value : this.#fail(name, `at most ${mostLength} characters long`)
  }

  flag(name: string): boolean {
    const value = this.#get(name)
    return typeof value === 'boolean' ? value : this.#fail(name, 'a boolean')
  }

  object(name: string): JsonObject {
    const value = this.#get(name)
    return isObject(value) ? value : this.#fail(name, 'an object')
  }

  /** That of an object. */
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
