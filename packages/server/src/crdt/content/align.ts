import * as Y from 'yjs'
import {
  areAlike,
  areOfOneKind,
  equalUnits,
  idOf,
  sliceUnits,
  type SharedType,
  typeIn,
  type Units,
  unitsOf,
} from './units.ts'

/**
 * Wanted units, and the units of the list that are kept for them, equal except for the content of types. `kept` is null if
 * the wanted units must be written.
 */
export interface Pair {
  wanted: Units
  kept: Units | null
}

/**
 * Pairs the units of the wanted list, in order, with units of `list` that can be kept. Kept units have the same order in
 * both lists. Both lists are states of one document, so most units are matched by id. Units that were deleted and written
 * again are matched by content.
 */
export function* align(list: SharedType, wanted: SharedType): Generator<Pair> {
  const present = unitsOf(list)
  const places = new Map(present.map(({ item }, place) => [item, place]))
  // The position of the first unit of the list that is not matched or passed yet.
  let [next, offset] = [0, 0]
  const isAhead = (place: number, start: number) => place > next || (place === next && start >= offset)
  const passTo = (place: number, start: number): Units[] => {
    const passed: Units[] = []
    for (; next < place; [next, offset] = [next + 1, 0]) passed.push(rest(present[next]!, offset))
    if (start > offset) passed.push(sliceUnits(present[next]!, offset, start - offset))
    return passed.filter(({ length }) => length > 0)
  }

  let fresh: Units[] = []
  for (const all of unitsOf(wanted)) {
    let units = all
    while (units.length > 0) {
      const found = sameIds(list.doc!, units)
      const place = found ? places.get(found.item) : undefined
      const isKept = found && place !== undefined && isAhead(place, found.start)
      const count = isKept ? equalUnits(units, found, 'start', areOfOneKind) : 0
      if (isKept && count > 0) {
        yield* fillGap(fresh, passTo(place, found.start))
        fresh = []
        yield { wanted: sliceUnits(units, 0, count), kept: sliceUnits(found, 0, count) }
        offset = found.start + count
      } else {
        add(fresh, sliceUnits(units, 0, found?.length ?? units.length))
      }
      units = rest(units, count || (found?.length ?? units.length))
    }
  }
  yield* fillGap(fresh, passTo(present.length, 0))
}

const rest = (units: Units, from: number) => sliceUnits(units, from, units.length - from)

/** The units with the same ids in a document, wherever they are, up to the end of one item; undefined if there are none. */
function sameIds({ store }: Y.Doc, units: Units): Units | undefined {
  const id = idOf(units)
  if (Y.getState(store, id.client) <= id.clock) return undefined
  const item = Y.getItem(store, id)
  const start = id.clock - item.id.clock
  return { item, start, length: Math.min(item.length - start, units.length) }
}

/** Adds units to the list, joined with the last ones if both are neighbours: a surrogate pair may lie across them. */
function add(list: Units[], units: Units) {
  const last = list.at(-1)
  if (last?.item === units.item && last.start + last.length === units.start) last.length += units.length
  else list.push(units)
}

/**
 * Pairs units without a match by id, `fresh` ones of the wanted list and `spare` ones of the list: equal ones at both ends,
 * and between these the types that can be changed inside.
 */
function* fillGap(fresh: readonly Units[], spare: readonly Units[]): Generator<Pair> {
  const [fromEnd, spareFromEnd] = [fresh.toReversed(), spare.toReversed()]
  yield* trim(fromEnd, spareFromEnd, 'start')
  const [between, spareBetween] = [fromEnd.toReversed(), spareFromEnd.toReversed()]
  const atEnd = [...trim(between, spareBetween, 'end')]
  for (const [index, wanted] of between.entries()) {
    const kept = spareBetween[index] ?? null
    const [type, other] = [typeIn(wanted.item), kept && typeIn(kept.item)]
    yield { wanted, kept: type && other && areOfOneKind(type, other) ? kept : null }
  }
  yield* atEnd.toReversed()
}

/** Pairs equal units at the ends of both lists, and removes them there. For the starts, pass reversed lists. */
function* trim(fresh: Units[], spare: Units[], from: 'start' | 'end'): Generator<Pair> {
  while (fresh.length > 0 && spare.length > 0) {
    const count = equalUnits(fresh.at(-1)!, spare.at(-1)!, from, areAlike)
    if (count === 0) return
    yield { wanted: take(fresh, count, from), kept: take(spare, count, from) }
  }
}

function take(list: Units[], count: number, from: 'start' | 'end'): Units {
  const units = list.pop()!
  const left = units.length - count
  if (left > 0) list.push(from === 'start' ? sliceUnits(units, count, left) : sliceUnits(units, 0, left))
  return sliceUnits(units, from === 'start' ? 0 : left, count)
}
