import { isDeepStrictEqual } from 'node:util'
import * as Y from 'yjs'
import type { ContentType } from './roots.ts'
import { difference, plain, record, sizeError, storable, textDifference, wellFormed } from './values.ts'
import { replaceXml } from './xml/replace-xml.ts'
import { nodesOf } from './xml/stored-units.ts'
import { formatXml, parseXml } from './xml/xml.ts'

/** Returns the content as JSON, whatever values clients have stored. */
export function read(doc: Y.Doc, type: ContentType, contentKey: string): unknown {
  const key = wellFormed(contentKey)
  if (type === 'text') return toJson(doc.getText(key))
  if (type === 'map') return toJson(doc.getMap(key))
  if (type === 'array') return toJson(doc.getArray(key))
  return toJson(doc.getXmlFragment(key))
}

const toJson = (value: unknown, depth = 0): unknown => plain(value, sharedToJson, depth)

function sharedToJson(type: object, depth: number): unknown {
  if (type instanceof Y.XmlFragment || type instanceof Y.XmlText) return formatXml(nodesOf(type))
  if (type instanceof Y.Text) return wellFormed(type.toJSON())
  if (type instanceof Y.Array) return type.toArray().map((item) => toJson(item, depth + 1))
  if (type instanceof Y.Map) return record(type.entries(), (item) => toJson(item, depth + 1))
  return null
}

/** Returns a message if the data does not fit the type, such as a string for a map. Returns null if it fits. */
export function typeMismatch(type: ContentType, data: unknown): string | null {
  if (type === 'text' || type === 'xml') {
    return typeof data === 'string' ? null : `Data must be a string for type ${type}.`
  }
  const fits = typeof data === 'object' && data !== null && Array.isArray(data) === (type === 'array')
  return fits ? null : `Data must be an ${type === 'map' ? 'object' : 'array'} for type ${type}.`
}

/** Returns a message if the data cannot be stored with this type, otherwise null. Does not parse XML: `replace` does. */
export function contentError(type: ContentType, data: unknown): string | null {
  return typeMismatch(type, data) ?? (typeof data === 'string' ? null : sizeError(data as object))
}

/**
 * Replaces the content in one transaction. Returns the update to append, which contains only the difference, or null if
 * nothing changed. The data must pass `contentError`. Throws an `XmlError`, before any change, for malformed XML. Throws
 * `UnfitContent` for XML that cannot be stored in this document, which may then be half changed: discard it.
 */
export function replace(doc: Y.Doc, type: ContentType, contentKey: string, data: unknown): Uint8Array | null {
  const error = contentError(type, data)
  if (error !== null) throw new TypeError(error)
  const write = writers[type](doc, wellFormed(contentKey), plain(data))
  const updates: Uint8Array[] = []
  const keep = (update: Uint8Array) => void updates.push(update)
  doc.on('update', keep)
  doc.transact(write)
  doc.off('update', keep)
  return updates.length === 0 ? null : Y.mergeUpdates(updates)
}

type Write = (transaction: Y.Transaction) => void

/** Lists keep equal items at both ends, so that the cursors and nested types of open editors survive the write. */
const writers: Record<ContentType, (doc: Y.Doc, key: string, data: unknown) => Write> = {
  text: (doc, key, data) => () => replaceText(doc.getText(key), data as string),
  map: (doc, key, data) => () => replaceMap(doc.getMap(key), data as Record<string, unknown>),
  array: (doc, key, data) => () => replaceArray(doc.getArray(key), data as unknown[]),
  xml: (doc, key, data) => {
    const nodes = parseXml(data as string)
    return (transaction) => replaceXml(transaction, doc.getXmlFragment(key), nodes)
  },
}

function replaceText(text: Y.Text, after: string) {
  const before = text.toJSON()
  if (before === after) return
  // Embedded objects add to the length of the text, but not to that of the string, so positions cannot be compared.
  if (before.length !== text.length) {
    text.delete(0, text.length)
    text.insert(0, after)
    return
  }
  const { start, removed, added } = textDifference(before, after)
  text.delete(start, removed)
  text.insert(start, after.slice(start, start + added))
}

function replaceMap(map: Y.Map<unknown>, after: Record<string, unknown>) {
  for (const key of map.keys()) if (!Object.hasOwn(after, key)) map.delete(key)
  for (const [key, value] of Object.entries(after)) {
    if (!map.has(key) || !isDeepStrictEqual(toJson(map.get(key)), value)) map.set(key, storable(value))
  }
}

function replaceArray(array: Y.Array<unknown>, after: unknown[]) {
  const before = array.toArray().map((item) => toJson(item))
  const { start, removed, added } = difference(before, after, isDeepStrictEqual)
  array.delete(start, removed)
  array.insert(start, after.slice(start, start + added).map(storable))
}
