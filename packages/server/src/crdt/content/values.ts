import * as Y from 'yjs'

/** How deep JSON and XML may be nested. Our recursions over such data stop there; the stack has room for more. */
export const maxDepth = 100

/**
 * How many Yjs items one write may create: keys of a map, nodes and attributes of XML. 50,000 take about a second. Without a
 * limit, a body of 10 MiB could create enough to crash the process.
 */
export const maxItems = 50_000

/** Replaces lone surrogates, which UTF-8 does not have, so that the server has the same text as other clients. */
export function wellFormed(text: string): string {
  return text.replace(/\p{Surrogate}/gu, '\uFFFD')
}

/**
 * A deep copy as plain JSON. Clients can store bytes, bigint, undefined and Infinity; `shared` converts Yjs types. Leaves
 * out the key `__proto__`, because every Yjs client assigns the keys that it reads to a plain object.
 */
export function plain(
  value: unknown,
  shared: (type: object, depth: number) => unknown = () => null,
  depth = 0,
): unknown {
  if (typeof value === 'string') return wellFormed(value)
  if (typeof value === 'number') return Number.isFinite(value) ? value : null
  if (typeof value === 'boolean') return value
  if (typeof value === 'bigint') return String(value)
  if (typeof value !== 'object' || value === null || depth > maxDepth) return null
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64')
  if (value instanceof Y.AbstractType || value instanceof Y.Doc) return shared(value, depth)
  if (Array.isArray(value)) return value.map((item) => plain(item, shared, depth + 1))
  return record(Object.entries(value), (item) => plain(item, shared, depth + 1))
}

export function record(entries: Iterable<[string, unknown]>, copy: (value: unknown) => unknown) {
  const result: Record<string, unknown> = {}
  for (const [key, value] of entries) if (key !== '__proto__') result[wellFormed(key)] = copy(value)
  return result
}

/** Returns why an object or array is too large to store, or null if it is not. */
export function sizeError(data: object): string | null {
  if (isTooDeep(data, 0)) return `Data must not be nested deeper than ${maxDepth} levels.`
  // An array is one item, however long, except for objects in it that become maps.
  const stored = Object.values(data).filter((value) => !Array.isArray(data) || needsMap(value))
  return itemCount(stored) > maxItems ? `Data must not have more than ${maxItems} keys.` : null
}

function isTooDeep(data: unknown, depth: number): boolean {
  if (typeof data !== 'object' || data === null) return false
  return depth > maxDepth || Object.values(data).some((item) => isTooDeep(item, depth + 1))
}

function itemCount(values: readonly unknown[]): number {
  const inner = values.filter(needsMap).map((value) => itemCount(Object.values(value)))
  return inner.reduce((sum, count) => sum + count, values.length)
}

/** Yjs uses `value.constructor` to tell JSON from its own types, so an object with this key is stored as a Y.Map. */
export function storable(value: unknown): unknown {
  if (!needsMap(value)) return value
  return new Y.Map(Object.entries(value).map(([key, item]) => [key, storable(item)]))
}

const needsMap = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, 'constructor')

/** The one range that differs: `removed` items at `start` become `added` ones; the rest is equal. */
export function difference<T>(before: ArrayLike<T>, after: ArrayLike<T>, equal: (a: T, b: T) => boolean) {
  const maxEqual = Math.min(before.length, after.length)
  let start = 0
  while (start < maxEqual && equal(before[start]!, after[start]!)) start++
  let end = 0
  while (end < maxEqual - start && equal(before[before.length - 1 - end]!, after[after.length - 1 - end]!))
    end++
  return { start, removed: before.length - start - end, added: after.length - start - end }
}

/** As `difference`, for texts: never cuts a surrogate pair, which would leave two replacement characters. */
export function textDifference(before: string, after: string) {
  let { start, removed, added } = difference(before, after, Object.is)
  if (isSurrogate(after, start - 1, 0xd800)) [start, removed, added] = [start - 1, removed + 1, added + 1]
  if (isSurrogate(after, start + added, 0xdc00)) [removed, added] = [removed + 1, added + 1]
  return { start, removed, added }
}

const isSurrogate = (text: string, index: number, half: 0xd800 | 0xdc00) =>
  (text.charCodeAt(index) & 0xfc00) === half
