import * as encoding from 'lib0/encoding'
import * as Y from 'yjs'
import {
  validateUpdate,
  type Accepted,
  type Options,
  type Verdict,
} from '../../../src/crdt/updates/validate-update.ts'
import { knownDoc } from './known-doc.ts'

type Encoder = encoding.Encoder
type Id = readonly [client: number, clock: number]

/** The content of an item: the number of its kind and how it is encoded. */
export interface Content {
  ref: number
  write: (encoder: Encoder) => void
}

export interface ItemScene {
  origin?: Id
  right?: Id
  /** The name of a root type, or the item of another type. */
  parent?: string | Id
  key?: string
  content: Content
}

export type StructScene = { gc: number } | { skip: number } | ItemScene

export interface UpdateScene {
  structs?: readonly { client: number; clock: number; structs: readonly StructScene[] }[]
  deletes?: readonly { client: number; ranges: readonly Id[] }[]
}

const { writeVarUint, writeVarString, writeUint8, writeAny } = encoding

export const deleted = (length: number): Content => ({ ref: 1, write: (e) => writeVarUint(e, length) })
export const json = (...texts: string[]): Content => ({
  ref: 2,
  write: (e) => {
    writeVarUint(e, texts.length)
    for (const text of texts) writeVarString(e, text)
  },
})
export const binary = (...bytes: number[]): Content => ({
  ref: 3,
  write: (e) => encoding.writeVarUint8Array(e, Uint8Array.from(bytes)),
})
export const text = (value: string): Content => ({ ref: 4, write: (e) => writeVarString(e, value) })
export const embed = (value: string): Content => ({ ref: 5, write: (e) => writeVarString(e, value) })
export const format = (key: string, value: string): Content => ({
  ref: 6,
  write: (e) => {
    writeVarString(e, key)
    writeVarString(e, value)
  },
})
export const type = (kind: number, name?: string): Content => ({
  ref: 7,
  write: (e) => {
    writeVarUint(e, kind)
    if (name !== undefined) writeVarString(e, name)
  },
})
export const any = (...values: unknown[]): Content => ({
  ref: 8,
  write: (e) => {
    writeVarUint(e, values.length)
    for (const value of values) writeAny(e, value as encoding.AnyEncodable)
  },
})
export const subdoc = (guid: string, options: unknown): Content => ({
  ref: 9,
  write: (e) => {
    writeVarString(e, guid)
    writeAny(e, options as encoding.AnyEncodable)
  },
})
/** A kind and the bytes after it, valid or not. */
export const raw = (ref: number, bytes: readonly number[]): Content => ({
  ref,
  write: (e) => encoding.writeUint8Array(e, Uint8Array.from(bytes)),
})

export function encode(write: (encoder: Encoder) => void): Uint8Array {
  const encoder = encoding.createEncoder()
  write(encoder)
  return encoding.toUint8Array(encoder)
}

export const update = ({ structs = [], deletes = [] }: UpdateScene): Uint8Array =>
  encode((e) => {
    writeVarUint(e, structs.length)
    for (const section of structs) {
      for (const number of [section.structs.length, section.client, section.clock]) writeVarUint(e, number)
      for (const struct of section.structs) writeStruct(e, struct)
    }
    writeVarUint(e, deletes.length)
    for (const { client, ranges } of deletes) {
      for (const number of [client, ranges.length, ...ranges.flat()]) writeVarUint(e, number)
    }
  })

/** An update with the first structs of client 5. */
export const structs = (list: readonly StructScene[]): Uint8Array =>
  update({ structs: [{ client: 5, clock: 0, structs: list }] })
export const struct = (...list: StructScene[]): Uint8Array => structs(list)
/** A text `abc` of client 5 in the root type `r`. */
export const abc = struct({ content: text('abc') })

export const repeat = <T>(count: number, make: (i: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => make(i))
/** Arrays inside each other, as JSON and as the bytes of a value. */
export const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth)
export const nestedAny = (depth: number): number[] => [...repeat(depth, () => [117, 1]).flat(), 126]

function writeStruct(e: Encoder, struct: StructScene): void {
  if ('gc' in struct || 'skip' in struct) {
    writeUint8(e, 'gc' in struct ? 0 : 10)
    writeVarUint(e, 'gc' in struct ? struct.gc : struct.skip)
    return
  }
  const { origin, right, parent = 'r', key, content } = struct
  writeUint8(e, content.ref | (origin ? 128 : 0) | (right ? 64 : 0) | (key === undefined ? 0 : 32))
  for (const number of [...(origin ?? []), ...(right ?? [])]) writeVarUint(e, number)
  if (!origin && !right) {
    writeVarUint(e, typeof parent === 'string' ? 1 : 0)
    if (typeof parent === 'string') writeVarString(e, parent)
    else for (const number of parent) writeVarUint(e, number)
    if (key !== undefined) writeVarString(e, key)
  }
  content.write(e)
}

export const stateOf = (doc: Y.Doc): Map<number, number> => Y.decodeStateVector(Y.encodeStateVector(doc))

/** The result of validating an update for this document. */
export const validate = (doc: Y.Doc, bytes: Uint8Array, options: Options = {}): Verdict =>
  validateUpdate(bytes, stateOf(doc), { ...knownDoc(doc), ...options })

/** The state vector of an empty document. */
export const emptyStateVector = new Map<number, number>()

export function codeOf(bytes: Uint8Array, known = emptyStateVector, options: Options = {}): string {
  const verdict = validateUpdate(bytes, known, options)
  return verdict.ok ? 'accepted' : verdict.fault.code
}

export function docOf(...updates: Uint8Array[]): Y.Doc {
  const doc = new Y.Doc()
  for (const bytes of updates) Y.applyUpdate(doc, bytes)
  return doc
}

/** Applies an accepted update. Returns how Yjs disagrees with the validation, or undefined. */
export function disagreement(doc: Y.Doc, bytes: Uint8Array, { clocks }: Accepted): string | undefined {
  const expected = new Map([...stateOf(doc), ...clocks])
  // A copy with bytes around it: Yjs would read them if the update were shorter than it declares.
  const inside = new Uint8Array(bytes.length + 64).fill(1)
  inside.set(bytes, 32)
  try {
    Y.applyUpdate(doc, inside.subarray(32, 32 + bytes.length))
  } catch (error) {
    return `Yjs throws: ${error instanceof Error ? error.message : String(error)}`
  }
  if (doc.store.pendingStructs !== null) return 'structs stay pending'
  if (doc.store.pendingDs !== null) return 'deletes stay pending'
  const actual = stateOf(doc)
  const isSame =
    actual.size === expected.size && [...actual].every(([id, clock]) => expected.get(id) === clock)
  return isSame
    ? undefined
    : `clocks are ${JSON.stringify([...actual])}, not ${JSON.stringify([...expected])}`
}

/**
 * A small document that is slow in Yjs: two clients inserted all their items at the same position, and the items of the
 * higher client id come later. With 10,000 items of each client it has 120 KB and takes 18 s.
 */
export function slowDocument(items = 10_000, client = 5): Uint8Array {
  const rest = Array.from({ length: items - 1 }, () => ({ content: text('x') }))
  const first = { content: text('x') }
  const afterAll = { origin: [client, items - 1] as const, content: text('x') }
  return update({
    structs: [
      { client: client + 1, clock: 0, structs: [afterAll, ...rest] },
      { client, clock: 0, structs: [first, ...rest] },
    ],
  })
}
