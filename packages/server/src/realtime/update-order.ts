import { covers, type Ranges } from './ranges.ts'
import { Refusal } from './update-reader.ts'

/** A client that an update names, with its new structs. */
export interface Client {
  id: number
  /** The next clock without and with the update. */
  known: number
  end: number
  isNamed: boolean
  structs: Struct[]
  /** How many of the structs have been taken. */
  settled: number
  isWaiting: boolean
  deletes: Ranges | undefined
}

/** A new struct, as far as it concerns others. */
export interface Struct {
  start: number
  end: number
  /** Whose item stood to its left when it was made, and at which clock. Without neighbours, the type around it. */
  left: Client | undefined
  leftClock: number
  right: Client | undefined
  rightClock: number
  isChild: boolean
  isEntry: boolean
  isType: boolean
  /** Whether Yjs may split it while it is not deleted. */
  isDivisible: boolean
  place: Place | undefined
}

export interface Place {
  /** How many shared types it is inside of: 1 directly in a root type. */
  depth: number
  /** Whether it is the value of a key, not a member of a list. */
  isEntry: boolean
}

export interface Rules {
  placeOf: ((client: number, clock: number) => Place | undefined) | undefined
  maxNesting: number
}

const inRootList: Place = { depth: 1, isEntry: false }
const asRootEntry: Place = { depth: 1, isEntry: true }

/**
 * Takes each struct after those that it refers to, as Yjs does, and looks where it comes to lie. Structs that refer to
 * each other in a circle would stay pending for ever.
 */
export function checkOrder(clients: Iterable<Client>, rules: Rules): void {
  for (const client of clients) settle(client, rules)
}

/** A loop, not a recursion; each turn settles a struct, or begins or ends the wait for one. */
function settle(first: Client, rules: Rules): void {
  const waiting = [{ client: first, until: first.end }]
  first.isWaiting = true
  for (let top = waiting.at(-1); top !== undefined; top = waiting.at(-1)) {
    const { client, until } = top
    const struct = client.structs[client.settled]
    if (struct === undefined || progressOf(client) > until) {
      client.isWaiting = false
      waiting.pop()
    } else if (isMissing(struct.left, struct.leftClock)) {
      waiting.push(waitFor(struct.left, struct.leftClock))
    } else if (isMissing(struct.right, struct.rightClock)) {
      waiting.push(waitFor(struct.right, struct.rightClock))
    } else {
      struct.place = placeFor(struct, rules)
      if (struct.place !== undefined) check(client, struct, struct.place, rules)
      client.settled++
    }
  }
}

/** The first clock that is not there yet. */
function progressOf({ end, structs, settled }: Client): number {
  return structs[settled]?.start ?? end
}

function isMissing(client: Client | undefined, clock: number): client is Client {
  return client !== undefined && clock >= progressOf(client)
}

function waitFor(client: Client, clock: number): { client: Client; until: number } {
  if (clock >= client.end) refuse('gap', `Clock ${clock} of client ${client.id} is missing.`)
  if (client.isWaiting) refuse('gap', 'Structs refer to each other in a circle.')
  client.isWaiting = true
  return { client, until: clock }
}

/** Nothing for what is beside a known struct that is collected: it is collected too. */
function placeFor(struct: Struct, rules: Rules): Place | undefined {
  const { left, leftClock, right, rightClock, isEntry } = struct
  if (struct.isChild) {
    const around = left && placeAt(left, leftClock, rules)
    return { depth: (around?.depth ?? 0) + 1, isEntry }
  }
  if (left !== undefined) return placeAt(left, leftClock, rules)
  if (right !== undefined) return placeAt(right, rightClock, rules)
  return isEntry ? asRootEntry : inRootList
}

function placeAt(client: Client, clock: number, { placeOf }: Rules): Place | undefined {
  if (clock < client.known) return placeOf?.(client.id, clock)
  const { structs, settled } = client
  let low = 0
  let high = settled - 1
  // Mostly the one before.
  let middle = high
  while (low < high) {
    if ((structs[middle] as Struct).start <= clock) low = middle
    else high = middle - 1
    middle = (low + high + 1) >>> 1
  }
  return structs[low]?.place
}

function check(client: Client, struct: Struct, { depth, isEntry }: Place, { maxNesting }: Rules): void {
  if (struct.isType && depth > maxNesting) {
    refuse('too_large', `Shared types are nested deeper than ${maxNesting}.`)
  }
  if (!struct.isDivisible || !isEntry) return
  // Yjs deletes the last part of a value only; when the type around it goes, it throws for the part before.
  if (client.deletes === undefined || !covers(client.deletes, struct.start, struct.end)) {
    refuse('malformed', 'The value of a key has several parts.')
  }
}

function refuse(code: 'gap' | 'malformed' | 'too_large', message: string): never {
  throw new Refusal({ code, message })
}
