import { isUtf8 } from 'node:buffer'
import { limits } from '@plenum/protocol/realtime'
import { InvalidJson } from '../../platform/json/invalid-json.ts'
import { JsonScanner } from '../../platform/json/json-scanner.ts'
import { unstorableText } from '../../platform/json/unstorable-text.ts'

export type JsonObject = Record<string, unknown>

/** A text frame that is not a message of the protocol. If a field is wrong, the reason names it. */
export interface Malformed {
  fault: 'malformed'
  reason: string
}

/** A JSON object that has not been validated yet. */
export interface ParsedMessage {
  /** All fields. If the stored field is an object, it is empty here. */
  fields: JsonObject
  /** The object of the stored field, as `JSON.stringify` writes it. */
  stored?: string
  /** Why the stored field cannot be stored. */
  unstorable?: string
}

/** The name of the stored field, by the type of the message. */
export type StoredFields = Readonly<Record<string, string>>

const { jsonDepth: depth, jsonKeys: keys, jsonValues: values } = limits
/** Longer keys are not named in errors, because a close reason has at most 123 bytes. All fields have shorter names. */
const maxFieldLength = 32

export const malformed = (reason: string): Malformed => ({ fault: 'malformed', reason })

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * Parses the JSON in a text frame, and does everything with it that takes long. Threads run it too: it does not use the
 * schema library, which would double the time that a thread takes to start.
 */
export function parseMessage(
  bytes: Buffer,
  maxBytes: number,
  storedFields: StoredFields,
): ParsedMessage | Malformed {
  if (bytes.length > maxBytes) return malformed(`The message must have at most ${maxBytes} bytes.`)
  if (!isUtf8(bytes)) return malformed('The message is not UTF-8.')
  const scanner = new JsonScanner(bytes, { depth, keys, values }, { subject: 'The message' })
  try {
    scanner.scan()
  } catch (error) {
    if (!(error instanceof InvalidJson)) throw error
    return malformed(withField(scanner.topKey, error.message))
  }
  const fields: unknown = JSON.parse(bytes.toString())
  if (!isObject(fields)) return malformed('A message must be an object.')
  const parsed = takeStored(fields, storedFields, scanner.hasUnstorableText)
  const largeField = bytes.length > limits.fieldsBytes ? findTooLarge(fields) : undefined
  if (largeField === undefined) return parsed
  return malformed(withField(largeField, `The fields must have at most ${limits.fieldsBytes} bytes.`))
}

const withField = (field: string, text: string) =>
  field !== '' && field.length <= maxFieldLength ? `${field}: ${text}` : text

function takeStored(fields: JsonObject, storedFields: StoredFields, mayBeUnstorable: boolean): ParsedMessage {
  const { type } = fields
  const name = typeof type === 'string' && Object.hasOwn(storedFields, type) ? storedFields[type] : undefined
  if (name === undefined) return { fields }
  const value = fields[name]
  const unstorable = mayBeUnstorable ? unstorableText(value, name) : undefined
  if (!isObject(value)) return { fields, unstorable }
  fields[name] = {}
  return { fields, stored: JSON.stringify(value), unstorable }
}

/** Returns the name of the largest field if all fields together are too large for the event loop. */
function findTooLarge(fields: JsonObject): string | undefined {
  const sizes = Object.entries(fields).map(
    ([name, value]) => [name, name.length + Buffer.byteLength(JSON.stringify(value))] as const,
  )
  const total = sizes.reduce((sum, [, size]) => sum + size, 0)
  if (total <= limits.fieldsBytes) return undefined
  return sizes.reduce((largest, one) => (one[1] > largest[1] ? one : largest))[0]
}
