/** Where an item lies. */
export interface Place {
  /** How many shared types it is inside of: 1 directly in a root type. */
  depth: number
  /** Whether it is the value of a key, not a member of a list. */
  isEntry: boolean
}

/** A place as a number: twice the depth, plus 1 for the value of a key. */
export type PlaceCode = number

/** The code of structs that Yjs has thrown away, with all that comes to lie beside or inside them. */
export const collected: PlaceCode = 0

const inList = 2
const asEntry = 3

export const codeInRoot = (isEntry: boolean): PlaceCode => (isEntry ? asEntry : inList)

export const codeInside = (around: PlaceCode, isEntry: boolean): PlaceCode =>
  (around & ~1) + codeInRoot(isEntry)

export const codeOf = (place: Place | undefined): PlaceCode =>
  place === undefined ? collected : place.depth * 2 + (place.isEntry ? 1 : 0)

const places: Place[] = []

/** The same object for the same code. */
export function placeOfCode(code: PlaceCode): Place | undefined {
  if (code === collected) return undefined
  return (places[code] ??= { depth: code >>> 1, isEntry: (code & 1) === 1 })
}

/** Where the new structs of one client lie: for each run of equal places, the clock where it starts and its code. */
export type Runs = number[]

export function addRun(runs: Runs, start: number, code: PlaceCode): void {
  if (runs.length === 0 || runs[runs.length - 1] !== code) runs.push(start, code)
}
