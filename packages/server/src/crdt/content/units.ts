import { isDeepStrictEqual } from 'node:util'
import * as Y from 'yjs'

/** Any Yjs type: a list, entries by key, or both. Roots of a loaded document have no specific kind. */
export type SharedType = Y.AbstractType<unknown>

/** Neighbours in a list that belong to one item: some characters, some values, or one type. */
export interface Units {
  item: Y.Item
  /** The index of the first unit in the item. */
  start: number
  length: number
}

/** The content of any type: a list, and the newest item of each key. */
export const contentOf = ({ _start: first, _map: entries }: SharedType) => ({ first, entries })

/** The items of a list that are not deleted, including formats. */
export function* visible(list: SharedType): Generator<Y.Item> {
  for (let item = contentOf(list).first; item !== null; item = item.right) if (!item.deleted) yield item
}

export const unitsOf = (list: SharedType): Units[] =>
  [...visible(list)].filter((item) => item.countable).map((item) => ({ item, start: 0, length: item.length }))

export const sliceUnits = ({ item, start }: Units, from: number, length: number): Units => ({
  item,
  start: start + from,
  length,
})

export const idOf = ({ item: { id }, start }: Units): Y.ID => Y.createID(id.client, id.clock + start)

/** A copy of the units to insert elsewhere. A type is copied without its content. */
export function copyOf({ item, start, length }: Units): Y.Item['content'] {
  const copy = item.content.copy()
  const rest = start > 0 ? copy.splice(start) : copy
  if (length < rest.getLength()) rest.splice(length)
  return rest
}

export const keysOf = (a: SharedType, b: SharedType): Set<string> =>
  new Set([...contentOf(a).entries.keys(), ...contentOf(b).entries.keys()])

/** The value of a key; undefined if there is none. */
export function entryOf(holder: SharedType, key: string): Units | undefined {
  const item = contentOf(holder).entries.get(key)
  if (!item || item.deleted) return undefined
  return { item, start: item.length - 1, length: 1 }
}

export const typeIn = ({ content }: Y.Item): SharedType | null =>
  content instanceof Y.ContentType ? content.type : null

type AreEqual = (a: SharedType, b: SharedType) => boolean

/** How many units are equal, counted from the start or from the end. Never cuts a surrogate pair. */
export function equalUnits(a: Units, b: Units, from: 'start' | 'end', areEqual: AreEqual): number {
  const [{ content: one }, { content: other }] = [a.item, b.item]
  if (one.constructor !== other.constructor) return 0
  const maxCount = Math.min(a.length, b.length)
  const forwards = from === 'start'
  const [edgeA, edgeB] = forwards ? [a.start, b.start] : [a.start + a.length, b.start + b.length]
  const at = (edge: number, count: number) => (forwards ? edge + count : edge - 1 - count)
  const cut = (edge: number, count: number) => (forwards ? edge + count : edge - count)
  let count = 0
  if (one instanceof Y.ContentString && other instanceof Y.ContentString) {
    const [x, y] = [one.str, other.str]
    while (count < maxCount && x.charCodeAt(at(edgeA, count)) === y.charCodeAt(at(edgeB, count))) count++
    if (isInsidePair(x, edgeA) || isInsidePair(y, edgeB)) return 0
    const cutsPair = isInsidePair(x, cut(edgeA, count)) || isInsidePair(y, cut(edgeB, count))
    return cutsPair ? count - 1 : count
  }
  const [x, y] = [one.getContent(), other.getContent()]
  while (count < maxCount && isEqual(x[at(edgeA, count)], y[at(edgeB, count)], areEqual)) count++
  return count
}

const isInsidePair = (text: string, index: number) =>
  (text.charCodeAt(index - 1) & 0xfc00) === 0xd800 && (text.charCodeAt(index) & 0xfc00) === 0xdc00

function isEqual(a: unknown, b: unknown, areEqual: AreEqual): boolean {
  if (a instanceof Y.AbstractType) return b instanceof Y.AbstractType && areEqual(a, b)
  if (a instanceof Y.Doc) return b instanceof Y.Doc && isDeepStrictEqual(subdocument(a), subdocument(b))
  return isDeepStrictEqual(a, b)
}

const subdocument = ({ guid, gc, autoLoad, meta }: Y.Doc) => [guid, gc, autoLoad, meta as unknown]

/** Whether one type can be turned into the other by changing its content. */
export const areOfOneKind: AreEqual = (a, b) => a.constructor === b.constructor && nameOf(a) === nameOf(b)

const nameOf = (type: SharedType) =>
  type instanceof Y.XmlElement ? type.nodeName : type instanceof Y.XmlHook ? type.hookName : ''

/**
 * How deep types are compared. The caller compares the inner types again, level by level. With this limit the total costs
 * a few times the size of the document; without it, its size times its depth.
 */
const comparedDepth = 8

/** Whether both types have the same content, compared down to `comparedDepth` and without formats. */
export function areAlike(a: SharedType, b: SharedType, depth = 0): boolean {
  if (!areOfOneKind(a, b)) return false
  if (depth === comparedDepth) return true
  const inside: AreEqual = (x, y) => areAlike(x, y, depth + 1)
  return haveEqualEntries(a, b, inside) && haveEqualLists(a, b, inside)
}

function haveEqualEntries(a: SharedType, b: SharedType, inside: AreEqual): boolean {
  for (const key of keysOf(a, b)) {
    const [x, y] = [entryOf(a, key), entryOf(b, key)]
    if (x && y ? equalUnits(x, y, 'start', inside) === 0 : x || y) return false
  }
  return true
}

function haveEqualLists(a: SharedType, b: SharedType, inside: AreEqual): boolean {
  const [xs, ys] = [unitsOf(a).toReversed(), unitsOf(b).toReversed()]
  while (xs.length > 0 && ys.length > 0) {
    const [x, y] = [xs.pop()!, ys.pop()!]
    const count = equalUnits(x, y, 'start', inside)
    if (count === 0) return false
    if (count < x.length) xs.push(sliceUnits(x, count, x.length - count))
    if (count < y.length) ys.push(sliceUnits(y, count, y.length - count))
  }
  return xs.length === ys.length
}
