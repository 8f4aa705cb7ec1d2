import { codeInRoot, codeInside, codeOf, collected, type ItemPlace, type PlaceCode } from './item-places.ts'
import { type Fault, type Missing, Refusal } from './fault.ts'
import { covers, type Ranges } from './ranges.ts'
import { contentRefs } from './update-contents.ts'

/** A Yjs client that an update names or refers to. */
export interface Client {
  id: number
  /** The next clock before the update. */
  known: number
  /** The next clock after the update. */
  end: number
  /** Whether the update has structs of the client, new or known. */
  isNamed: boolean
  /** The new structs. */
  structs: Struct[]
  /** How many of the new structs have their place. */
  placedCount: number
  /** Whether `OrderCheck` waits until new structs of the client have their place. */
  isWaiting: boolean
  /** Where the bytes of the new structs begin. A partly known first struct is not included. */
  from: number
  /** Where these bytes end. */
  to: number
  /** The length of the new part of the first struct, if that is partly known; otherwise 0. */
  cut: number
  /** The ranges that the update deletes. */
  deletes: Ranges | undefined
}

/** A new struct, without its content. */
export interface Struct {
  start: number
  end: number
  /** The kind of its content, one of `contentRefs`. */
  ref: number
  /**
   * The client of the item at `leftClock`: the left neighbour that the struct had when it was created or, if `isChild`, the
   * struct's parent.
   */
  left: Client | undefined
  leftClock: number
  right: Client | undefined
  rightClock: number
  /** Whether the struct names an item as its parent. Otherwise it names neighbours or a root type. */
  isChild: boolean
  /** Whether the struct names the key whose value it is. */
  isEntry: boolean
  place: PlaceCode
}

export interface Rules {
  placeOf: (client: number, clock: number) => ItemPlace | undefined
  maxNesting: number
  /** Whether the value of a key may have several parts. */
  allowsParts: boolean
}

/** Whether the struct has content that Yjs can split: several units that are not deleted. */
export const isDivisible = ({ start, end, ref }: Struct) =>
  end - start > 1 && ref !== contentRefs.gc && ref !== contentRefs.deleted

/** How many structs one step processes, in about a millisecond. */
export const maxStructsPerStep = 1024

/**
 * Gives each new struct of a client its place, after the structs that it refers to, as Yjs does. Refuses structs that refer
 * to each other in a circle: in Yjs they would stay pending forever. A loop, not a recursion: each iteration places a
 * struct, or starts or ends the wait for one.
 */
export class OrderCheck {
  readonly #waiting: { client: Client; until: number }[]
  readonly #rules: Rules

  constructor(first: Client, rules: Rules) {
    this.#waiting = [{ client: first, until: first.end }]
    first.isWaiting = true
    this.#rules = rules
  }

  /** Places some structs. Returns false when all are placed. */
  step(): boolean {
    const waiting = this.#waiting
    const rules = this.#rules
    let placed = 0
    for (let top = waiting.at(-1); top !== undefined; top = waiting.at(-1)) {
      const { client, until } = top
      const struct = client.structs[client.placedCount]
      if (struct === undefined || progressOf(client) > until) {
        client.isWaiting = false
        waiting.pop()
      } else if (isMissing(struct.left, struct.leftClock)) {
        waiting.push(waitFor(struct.left, struct.leftClock))
      } else if (isMissing(struct.right, struct.rightClock)) {
        waiting.push(waitFor(struct.right, struct.rightClock))
      } else {
        struct.place = placeFor(struct, rules)
        if (struct.place !== collected) checkStruct(client, struct, rules)
        client.placedCount++
        if (++placed === maxStructsPerStep) return true
      }
    }
    return false
  }
}

/** The first clock that has no place yet. */
function progressOf({ end, structs, placedCount }: Client): number {
  return structs[placedCount]?.start ?? end
}

function isMissing(client: Client | undefined, clock: number): client is Client {
  return client !== undefined && clock >= progressOf(client)
}

function waitFor(client: Client, clock: number): { client: Client; until: number } {
  const { id, end, isWaiting } = client
  if (clock >= end)
    refuse('gap', `Clock ${clock} of client ${id} is missing.`, { client: id, clock: clock + 1 })
  if (isWaiting) refuse('gap', 'Structs refer to each other in a circle.', { client: id, clock: end })
  client.isWaiting = true
  return { client, until: clock }
}

/** As in Yjs, an item beside or inside a garbage-collected one is garbage-collected, too. */
function placeFor(struct: Struct, rules: Rules): PlaceCode {
  const { left, leftClock, right, rightClock, isEntry } = struct
  if (struct.ref === contentRefs.gc) return collected
  const before = left && placeAt(left, leftClock, rules)
  const behind = right && placeAt(right, rightClock, rules)
  if (before === collected || behind === collected) return collected
  if (struct.isChild) return codeInside(before as PlaceCode, isEntry)
  return before ?? behind ?? codeInRoot(isEntry)
}

function placeAt(client: Client, clock: number, { placeOf }: Rules): PlaceCode {
  if (clock < client.known) return codeOf(placeOf(client.id, clock))
  const { structs, placedCount } = client
  let low = 0
  let high = placedCount - 1
  // Most references are to the struct that was placed last.
  let middle = high
  while (low < high) {
    if ((structs[middle] as Struct).start <= clock) low = middle
    else high = middle - 1
    middle = (low + high + 1) >>> 1
  }
  return (structs[low] as Struct).place
}

function checkStruct(client: Client, struct: Struct, { maxNesting, allowsParts }: Rules): void {
  if (struct.ref === contentRefs.type && struct.place >>> 1 > maxNesting) {
    refuse('too_large', `Shared types are nested deeper than ${maxNesting}.`)
  }
  if (allowsParts || (struct.place & 1) === 0 || !isDivisible(struct)) return
  // Yjs deletes only the last part of a value. When the type around the value is deleted, Yjs throws for the other parts.
  if (client.deletes === undefined || !covers(client.deletes, struct.start, struct.end)) {
    refuse('malformed', 'The value of a key has several parts.')
  }
}

function refuse(code: Fault['code'], message: string, missing?: Missing): never {
  throw new Refusal({ code, message, ...(missing && { missing }) })
}
