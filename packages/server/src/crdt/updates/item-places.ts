import { SortedPairs } from './sorted-pairs.ts'

/** Where an item is in the tree of shared types. */
export interface ItemPlace {
  /** How many shared types enclose the item: 1 if it is directly in a root type. */
  depth: number
  /** Whether the item is the value of a key. Otherwise it is a member of a list. */
  isEntry: boolean
}

/** A place as a number: twice the depth, plus 1 for the value of a key. */
export type PlaceCode = number

/** The code of structs that Yjs has garbage-collected, and of all items beside or inside them. */
export const collected: PlaceCode = 0

const inList = 2
const asEntry = 3

export const codeInRoot = (isEntry: boolean): PlaceCode => (isEntry ? asEntry : inList)

export const codeInside = (around: PlaceCode, isEntry: boolean): PlaceCode =>
  (around & ~1) + codeInRoot(isEntry)

export const codeOf = (place: ItemPlace | undefined): PlaceCode =>
  place === undefined ? collected : place.depth * 2 + (place.isEntry ? 1 : 0)

const places: ItemPlace[] = []

/** Returns the same object for the same code, and undefined for `collected`. */
export function placeOfCode(code: PlaceCode): ItemPlace | undefined {
  if (code === collected) return undefined
  return (places[code] ??= { depth: code >>> 1, isEntry: (code & 1) === 1 })
}

/** The places of the new structs of one client: for each run of equal places, its first clock and its code. */
export type Runs = number[]

export function addRun(runs: Runs, start: number, code: PlaceCode): void {
  if (runs.length === 0 || runs[runs.length - 1] !== code) runs.push(start, code)
}

/** The places of all structs of one client: one code if all are equal, as for most clients; otherwise the runs as pairs. */
export type KnownPlaces = PlaceCode | SortedPairs

export const codeAt = (places: KnownPlaces, clock: number): PlaceCode =>
  typeof places === 'number' ? places : (places.secondAt(clock) as PlaceCode)

/** Appends runs to the known places. The first run of a client starts at clock 0. */
export function withRuns(known: KnownPlaces, runs: Runs): KnownPlaces {
  let places = known
  for (let i = 0; i < runs.length; i += 2) {
    const code = runs[i + 1] as PlaceCode
    if (code === (typeof places === 'number' ? places : places.lastSecond)) continue
    places = toPairs(places)
    places.append(runs[i] as number, code)
  }
  return places
}

/** The places as runs. The first run starts at clock 0. */
export function toPairs(places: KnownPlaces): SortedPairs {
  if (typeof places !== 'number') return places
  const pairs = new SortedPairs()
  pairs.append(0, places)
  return pairs
}

export const placesOver = (runs: Float64Array): KnownPlaces =>
  runs.length === 2 ? (runs[1] as PlaceCode) : SortedPairs.over(runs)
