import { InvalidJson } from '../../platform/json/invalid-json.ts'
import { checkJson } from '../../platform/json/json-scanner.ts'
import { Refusal } from './fault.ts'
import type { UpdateReader } from './update-reader.ts'

export interface ValueBounds {
  depth: number
  nameLength: number
}

/** The kinds of content, in the low five bits of the first byte of a struct. */
export const contentRefs = {
  gc: 0,
  deleted: 1,
  json: 2,
  binary: 3,
  string: 4,
  embed: 5,
  format: 6,
  type: 7,
  any: 8,
  subdocument: 9,
  skip: 10,
} as const

const xmlElement = 3
const xmlHook = 5
const lastType = 6

/** Reads the content of a struct. Returns by how much it advances the clock. */
export function readContent(reader: UpdateReader, ref: number, bounds: ValueBounds): number {
  switch (ref) {
    case contentRefs.deleted:
      return reader.uint()
    case contentRefs.json:
      return readEach(reader, bounds, readJsonOrUndefined)
    case contentRefs.binary:
      reader.skip(reader.uint())
      return 1
    case contentRefs.string:
      return reader.string()
    case contentRefs.embed:
      readJson(reader, bounds)
      return 1
    case contentRefs.format:
      reader.key(bounds.nameLength)
      readJson(reader, bounds)
      return 1
    case contentRefs.type:
      readType(reader, bounds)
      return 1
    case contentRefs.any:
      return readEach(reader, bounds, readAny)
    case contentRefs.subdocument:
      reader.key(bounds.nameLength)
      readDocOptions(reader, bounds)
      return 1
    default:
      return reader.refuse('malformed', 'A struct has an unknown content.')
  }
}

type ReadValue = (reader: UpdateReader, bounds: ValueBounds) => void

function readEach(reader: UpdateReader, bounds: ValueBounds, readValue: ReadValue): number {
  const count = reader.count(1)
  for (let i = 0; i < count; i++) readValue(reader, bounds)
  return count
}

function readType(reader: UpdateReader, bounds: ValueBounds): void {
  const type = reader.uint()
  if (type > lastType) reader.refuse('malformed', 'A shared type is unknown.')
  if (type === xmlElement || type === xmlHook) reader.key(bounds.nameLength)
}

/** Reads a value in the encoding of lib0. Yjs reads values by recursion without a limit, and assigns each key to an object. */
function readAny(reader: UpdateReader, bounds: ValueBounds, depth = bounds.depth): void {
  const type = reader.byte()
  switch (type) {
    case 127: // undefined
    case 126: // null
    case 121: // false
    case 120: // true
      return
    case 125:
      return reader.int()
    case 124:
      return reader.skip(4)
    case 123: // a double
    case 122: // a big integer
      return reader.skip(8)
    case 119:
      reader.string()
      return
    case 118:
    case 117:
      return readMembers(reader, type === 118, bounds, depth)
    case 116:
      return reader.skip(reader.uint())
    default:
      reader.refuse('malformed', 'A value has an unknown type.')
  }
}

function readMembers(reader: UpdateReader, hasKeys: boolean, bounds: ValueBounds, depth: number): void {
  if (depth === 0) reader.refuse('too_large', `A value is nested deeper than ${bounds.depth}.`)
  const count = reader.count(hasKeys ? 2 : 1)
  for (let i = 0; i < count; i++) {
    if (hasKeys) reader.key(bounds.nameLength)
    readAny(reader, bounds, depth - 1)
  }
}

/** Refuses options that would damage a subdocument: Yjs passes them to its constructor. */
function readDocOptions(reader: UpdateReader, bounds: ValueBounds): void {
  if (reader.byte() !== 118) reader.refuse('malformed', 'The options of a subdocument are not an object.')
  const count = reader.count(2)
  for (let i = 0; i < count; i++) {
    reader.key(bounds.nameLength)
    if (reader.hasJustRead('guid') || reader.hasJustRead('gcFilter')) {
      reader.refuse('forbidden', 'A subdocument has an option that only its owner may set.')
    }
    readAny(reader, bounds, bounds.depth - 1)
  }
}

/** Reads a string that Yjs passes to `JSON.parse`. */
function readJson(reader: UpdateReader, bounds: ValueBounds): void {
  reader.string()
  checkLastJson(reader, bounds)
}

/** As `readJson`, but also accepts the text `undefined`: Yjs stores the value `undefined` as this text. */
function readJsonOrUndefined(reader: UpdateReader, bounds: ValueBounds): void {
  reader.string()
  if (!reader.hasJustRead('undefined')) checkLastJson(reader, bounds)
}

function checkLastJson(reader: UpdateReader, bounds: ValueBounds): void {
  const { from, to } = reader.lastString
  try {
    checkJson(reader.bytes, from, to, { depth: bounds.depth })
  } catch (error) {
    if (!(error instanceof InvalidJson)) throw error
    const { code, message, at } = error
    throw new Refusal({ code, message, at })
  }
}
