import * as Y from 'yjs'
import { type Place, walk } from './document-order.ts'
import { isLeft, locate, type Located, type PositionJson, rootAt } from './positions.ts'
import { type Contents, locateRoot } from './roots.ts'
import { type SharedType, typeIn } from './units.ts'
import { wellFormed } from './values.ts'

/** Longer texts are cut: a page of annotations has many. */
const maxTextLength = 1_000

/** A range as a caller sends it. A number is an offset in the text of the root. */
export interface SentRange {
  contentKey?: string | undefined
  anchor: number | PositionJson
  head: number | PositionJson
  quote?: string | undefined
}

/**
 * A range as it is stored. Its start is attached to its first unit and its end to its last one, so what is typed at the
 * edges stays outside. If the end is the anchor, the selection was made backwards.
 */
export interface AnchoredRange {
  contentKey: string
  anchor: PositionJson
  head: PositionJson
  quote: string
}

/** Why a range cannot be stored: the field, and what follows its name in the message. */
export interface Fault {
  field: 'anchor' | 'head' | 'quote' | 'contentKey'
  fault: string
}

export interface FoundRange {
  anchor: PositionJson
  head: PositionJson
  orphaned: boolean
  /** Missing if the range has no place in the document any more. */
  start?: number
  end?: number
  text: string
}

/** Turns ranges into the form in which they are stored. */
export function anchorRanges(
  doc: Y.Doc,
  declared: Contents,
  sent: readonly SentRange[],
): (AnchoredRange | Fault)[] {
  const read = sent.map((range) => readRange(doc, declared, range))
  const located = locate(
    doc,
    read.flatMap((range) => ('fault' in range ? [] : [range.anchor, range.head])),
  )
  return read.map((range) => ('fault' in range ? range : anchorRange(doc, located, range)))
}

interface ReadRange extends SentRange {
  anchor: PositionJson
  head: PositionJson
}

/** Turns offsets into positions. */
function readRange(doc: Y.Doc, declared: Contents, sent: SentRange): ReadRange | Fault {
  const { contentKey } = sent
  if (contentKey !== undefined && !doc.share.has(contentKey)) {
    return { field: 'contentKey', fault: 'names a root that the editor does not have.' }
  }
  const read = (field: 'anchor' | 'head'): PositionJson | Fault => {
    const position = sent[field]
    if (typeof position !== 'number') {
      const { item, type, tname } = position
      return item || type || tname != null ? position : { field, fault: 'must have item, type or tname.' }
    }
    const contents = locateRoot(doc, contentKey === undefined ? declared : { type: null, contentKey })
    const root = contents.contentKey === null ? undefined : rootAt(doc, contents.contentKey)
    if (!root || contents.type !== 'text') {
      return { field, fault: 'can be an offset only in a text. Send a Yjs relative position.' }
    }
    const length = lengthOf(root)
    if (position > length) return { field, fault: `must be at most ${length}, the length of the text.` }
    return positionAt(root, position, 0)
  }
  const anchor = read('anchor')
  if ('fault' in anchor) return anchor
  const head = read('head')
  return 'fault' in head ? head : { ...sent, anchor, head }
}

function anchorRange(
  doc: Y.Doc,
  located: Located,
  { contentKey, anchor, head, quote }: ReadRange,
): AnchoredRange | Fault {
  const [a, h] = [located.placeOf(anchor), located.placeOf(head)]
  const root = located.rootOf(anchor)
  const unknown = 'is not in the editor. Wait until the editor is saved.'
  if (!a || !root) return { field: 'anchor', fault: unknown }
  if (!h) return { field: 'head', fault: unknown }
  const key = keyOf(doc, root)
  if (located.rootOf(head) !== root) return { field: 'head', fault: 'must be in the same root as anchor.' }
  if (contentKey !== undefined && contentKey !== key) {
    return { field: 'contentKey', fault: 'must name the root that has the positions.' }
  }
  if (a.order === h.order) return { field: 'head', fault: 'must not be at the same place as anchor.' }
  const text = textBetween(located.textOf(root), a, h)
  if (quote && !hasText(text))
    return { field: 'quote', fault: 'must be empty, because the range has no text.' }
  return { contentKey: key, ...attach(a, h), quote: wellFormed(quote || text) }
}

/** Finds out where ranges are now. */
export function locateRanges(doc: Y.Doc, ranges: readonly AnchoredRange[]): FoundRange[] {
  const roots = ranges.flatMap(({ contentKey }) => rootAt(doc, contentKey) ?? [])
  const located = locate(
    doc,
    ranges.flatMap(({ anchor, head }) => [anchor, head]),
    roots,
  )
  const found = ranges.map((range) => foundAtPositions(located, range))
  const rewritten = findQuotes(
    doc,
    located,
    ranges.filter((_, index) => found[index]?.orphaned),
  )
  return ranges.map((range, index) => rewritten.get(range) ?? (found[index] as FoundRange))
}

function foundAtPositions(located: Located, { anchor, head, quote }: AnchoredRange): FoundRange {
  const [a, h] = [located.placeOf(anchor), located.placeOf(head)]
  const root = located.rootOf(anchor)
  const gone = { anchor, head, orphaned: true, text: '' }
  if (!a || !h || !root || located.rootOf(head) !== root) return gone
  const [start, end] = isLeft(anchor) ? [h, a] : [a, h]
  const text = start.order < end.order ? textBetween(located.textOf(root), start, end) : ''
  const places = { start: start.index, end: end.index }
  // In an XML document the blocks around a deleted text may be left.
  const isGone = start.order >= end.order || (hasText(quote) && !hasText(text))
  return isGone ? { ...gone, ...places } : { anchor, head, orphaned: false, ...places, text }
}

/**
 * Finds ranges whose text was deleted and written again, by an undo, by cut and paste or by restoring a version: if the quote
 * occurs exactly once in the root, that is the range.
 */
function findQuotes(
  doc: Y.Doc,
  located: Located,
  ranges: readonly AnchoredRange[],
): Map<AnchoredRange, FoundRange> {
  const found = new Map<AnchoredRange, FoundRange>()
  const occurrences = new Map<SharedType, { range: AnchoredRange; at: number }[]>()
  for (const range of ranges) {
    const root = rootAt(doc, range.contentKey)
    const at = root && hasText(range.quote) ? onlyIndexOf(located.textOf(root), range.quote) : -1
    if (!root || at < 0) continue
    occurrences.set(root, [...(occurrences.get(root) ?? []), { range, at }])
  }
  for (const [root, some] of occurrences) {
    const edges = some.flatMap(({ range, at }) => [at, at + range.quote.length - 1])
    const places = placesAt(root, edges)
    for (const { range, at } of some) {
      const [start, last] = [places.get(at), places.get(at + range.quote.length - 1)]
      if (!start || !last) continue
      const end = { ...last, index: last.index + 1, order: last.order + 1 }
      const [anchor, head] = isLeft(range.anchor) ? [end, start] : [start, end]
      const indexes = { start: start.index, end: end.index }
      found.set(range, { ...attach(anchor, head), orphaned: false, ...indexes, text: range.quote })
    }
  }
  return found
}

/** The index of the part in the text if it occurs exactly once, otherwise -1. */
function onlyIndexOf(text: string, part: string): number {
  const index = text.indexOf(part)
  return index >= 0 && text.indexOf(part, index + 1) < 0 ? index : -1
}

/** The places before the characters with these offsets in the text of the root. A line break between blocks has no place. */
function placesAt(root: SharedType, offsets: readonly number[]): Map<number, Place> {
  const sorted = offsets.toSorted((a, b) => a - b)
  const found = new Map<number, Place>()
  let next = 0
  walk(root, {
    onItem(item, place) {
      if (item.deleted || !item.countable || typeIn(item)) return
      while (next < sorted.length && (sorted[next] as number) < place.offset + item.length) {
        const offset = sorted[next++] as number
        const units = offset - place.offset
        if (units < 0) continue
        found.set(offset, {
          type: place.type,
          index: place.index + units,
          order: place.order + units,
          offset,
        })
      }
    },
  })
  return found
}

/** Attaches the earlier place to the unit after it, and the later one to the unit before it. */
function attach(anchor: Place, head: Place): Pick<AnchoredRange, 'anchor' | 'head'> {
  const isForward = anchor.order <= head.order
  return {
    anchor: positionAt(anchor.type, anchor.index, isForward ? 0 : -1),
    head: positionAt(head.type, head.index, isForward ? -1 : 0),
  }
}

const positionAt = (type: SharedType, index: number, assoc: number): PositionJson =>
  Y.relativePositionToJSON(Y.createRelativePositionFromTypeIndex(type, index, assoc)) as PositionJson

const lengthOf = ({ _length: length }: SharedType) => length

const keyOf = (doc: Y.Doc, root: SharedType): string =>
  [...doc.share].find(([, type]) => type === root)?.[0] as string

const hasText = (text: string) => /[^\n]/.test(text)

/** Never cuts a surrogate pair. */
function textBetween(text: string, a: Place, b: Place): string {
  const [start, end] = a.offset < b.offset ? [a.offset, b.offset] : [b.offset, a.offset]
  const cut = text.slice(start, Math.min(end, start + maxTextLength))
  return wellFormed(end > start + maxTextLength ? cut.replace(/[\ud800-\udbff]$/, '') : cut)
}
