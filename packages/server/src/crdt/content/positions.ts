import * as Y from 'yjs'
import { type Place, walk } from './document-order.ts'
import { type SharedType, typeIn } from './units.ts'

/** A Yjs relative position, as `Y.relativePositionToJSON` writes it. */
export interface PositionJson {
  item?: { client: number; clock: number } | null
  type?: { client: number; clock: number } | null
  tname?: string | null
  assoc?: number | null
}

/** What a position is attached to: a unit of an item, or the start or end of a type. */
interface Target {
  root: SharedType
  at: Y.Item | SharedType
  /** The index of the unit in the item. */
  unit: number
  isLeft: boolean
}

export const isLeft = ({ assoc }: PositionJson) => (assoc ?? 0) < 0

/** The places of positions and the texts of roots, as they are now. */
export interface Located {
  /** Undefined: the position has no place in the document any more, or never had one. */
  placeOf(position: PositionJson): Place | undefined
  rootOf(position: PositionJson): SharedType | undefined
  textOf(root: SharedType): string
}

/** Walks once through each root that a position is in, however many positions there are. */
export function locate(
  doc: Y.Doc,
  positions: readonly PositionJson[],
  roots: Iterable<SharedType> = [],
): Located {
  const targets = new Map<PositionJson, Target>()
  for (const position of positions) {
    const target = targetOf(doc, position)
    if (target) targets.set(position, target)
  }
  const waiting = new Map<Y.Item | SharedType, Target[]>()
  for (const target of targets.values()) {
    const some = waiting.get(target.at)
    if (some) some.push(target)
    else waiting.set(target.at, [target])
  }
  const places = new Map<Target, Place>()
  /** Records the place for each target at this item or type, moved by some units. Undefined: it is recorded later. */
  const record = (
    at: Y.Item | SharedType,
    place: Place,
    unitsFor: (target: Target) => number | undefined,
  ) => {
    for (const target of waiting.get(at) ?? []) {
      const units = unitsFor(target)
      if (units !== undefined) places.set(target, { ...place, ...moved(place, units) })
    }
  }
  const texts = new Map<SharedType, string>()
  for (const root of new Set([...Array.from(targets.values(), (target) => target.root), ...roots])) {
    const text = walk(root, {
      onItem: (item, place) => {
        const hasUnits = !item.deleted && item.countable
        record(item, place, ({ unit, isLeft }) => {
          if (!hasUnits) return 0
          // The place after a type is known when the type has been walked through.
          if (isLeft && typeIn(item)) return undefined
          return isLeft ? unit + 1 : unit
        })
      },
      onStart: (type, place) => record(type, place, ({ isLeft }) => (isLeft ? 0 : undefined)),
      onEnd: (type, place) => record(type, place, ({ isLeft }) => (isLeft ? undefined : 0)),
      onLeave: (type, place) => {
        const item = itemOf(type)
        if (item) record(item, place, ({ isLeft }) => (isLeft ? 0 : undefined))
      },
    })
    texts.set(root, text)
  }
  const found = (position: PositionJson) => targets.get(position)
  return {
    placeOf: (position) => {
      const target = found(position)
      return target && places.get(target)
    },
    rootOf: (position) => found(position)?.root,
    textOf: (root) => texts.get(root) ?? '',
  }
}

const moved = ({ index, order, offset }: Place, units: number) => ({
  index: index + units,
  order: order + units,
  offset: offset + units,
})

/** Returns undefined if the position names an item that does not exist or whose surroundings were deleted. */
function targetOf(doc: Y.Doc, position: PositionJson): Target | undefined {
  const left = isLeft(position)
  if (position.item) {
    const item = structAt(doc, position.item)
    if (!item) return undefined
    const type = item.parent as SharedType
    return { root: rootOf(type), at: item, unit: position.item.clock - item.id.clock, isLeft: left }
  }
  const type = typeAt(doc, position)
  return type && { root: rootOf(type), at: type, unit: 0, isLeft: left }
}

function typeAt(doc: Y.Doc, { type, tname }: PositionJson): SharedType | undefined {
  if (tname != null) return rootAt(doc, tname)
  const item = type && structAt(doc, type)
  return (item && typeIn(item)) ?? undefined
}

/** What was inside a deleted type is garbage-collected: then the id exists, but is not that of an item. */
function structAt(
  { store }: Y.Doc,
  { client, clock }: { client: number; clock: number },
): Y.Item | undefined {
  if (Y.getState(store, client) <= clock) return undefined
  const struct: unknown = Y.getItem(store, Y.createID(client, clock))
  return struct instanceof Y.Item ? struct : undefined
}

const itemOf = ({ _item: item }: SharedType) => item

function rootOf(type: SharedType): SharedType {
  let root = type
  for (let item = itemOf(root); item; item = itemOf(root)) root = item.parent as SharedType
  return root
}

/** The root with this name. Undefined: nobody has written in it. */
export const rootAt = (doc: Y.Doc, name: string): SharedType | undefined =>
  doc.share.has(name) ? doc.get(name) : undefined
