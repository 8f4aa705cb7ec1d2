import { yieldIfLate } from '../../platform/turns/loop-time.ts'
import type { Cursor, Db } from './db.ts'
import { sqliteOf } from './prepared.ts'

/** A part of a list that is ordered by the columns of a cursor. */
export interface Window {
  limit: number
  after: Cursor | undefined
  order: 'asc' | 'desc'
}

/** The next items of a list, in its order. */
export interface Part<T> {
  items: T[]
  /** The list may go on behind this cursor, and has no other items before it. Undefined: the list is over. */
  next?: Cursor | undefined
}

/** An item of a list that is ordered by time, then key. */
export interface Position {
  key: string
  timestamp: number
}

export const cursorOf = ({ timestamp, key }: Position): Cursor => [timestamp, key]

/** One statement scans this many rows: 2 ms on SQLite. On PostgreSQL a statement is a round trip, so it scans more. */
export const rowsPerScan = (db: Db) => (sqliteOf(db) ? 200 : 2000)

/** Runs the statements of scans, and limits how many rows they read. */
export interface Scanning {
  query<T>(statement: () => Promise<T>): Promise<T>
  /** How many more rows may be scanned. A scan that has used them up ends after its step. */
  rowsLeft: number
}

/** For lists that are read to their end. */
export const scanningAll = (query: Scanning['query'] = (statement) => statement()): Scanning => ({
  query,
  rowsLeft: Infinity,
})

/** The items of rows that belong to the list. */
export type Keep<Row, Item = Row> = (rows: Row[]) => Item[] | Promise<Item[]>

interface Scan<Row, Item> {
  /** Each reads the next rows in the order of the list. */
  steps: readonly ((window: Window) => Promise<Row[]>)[]
  cursorOf: (row: Row) => Cursor
  keep: Keep<Row, Item>
  rowsPerStep: number
  /** The rows that this scan may read, if others follow that need some too. */
  maxRows?: number
}

/**
 * Scans rows in order, in short steps, until enough items are found or enough rows were scanned. It may find more items than
 * wanted. All `steps` lead to the same items in the same order, through different rows. They take turns, so the cost is that
 * of the one with the fewest rows, times their number.
 */
export async function scan<Row, Item>(
  window: Window,
  scanning: Scanning,
  { steps, cursorOf, keep, rowsPerStep, maxRows = scanning.rowsLeft }: Scan<Row, Item>,
): Promise<Part<Item>> {
  const first = { ...window, limit: Math.min(window.limit, rowsPerStep) }
  const scans = steps.map((step) => ({ step, next: first, found: [] as Item[] }))
  for (let left = maxRows; ;) {
    for (const scan of scans) {
      const { found, next } = scan
      const rows = await scanning.query(() => scan.step(next))
      left -= rows.length
      scanning.rowsLeft -= rows.length
      found.push(...(await keep(rows)))
      const last = rows.at(-1)
      if (!last || rows.length < next.limit) return { items: found }
      scan.next = { ...window, limit: rowsPerStep, after: cursorOf(last) }
      if (found.length >= window.limit) return { items: found, next: scan.next.after }
      await yieldIfLate()
    }
    if (left <= 0) return furthest(scans, window.order)
  }
}

function furthest<Item>(
  scans: readonly { next: Window; found: Item[] }[],
  order: Window['order'],
): Part<Item> {
  const [{ found, next }] = scans.toSorted((a, b) =>
    compareCursors(b.next.after as Cursor, a.next.after as Cursor, order),
  ) as [(typeof scans)[number]]
  return { items: found, next: next.after }
}

/**
 * Joins parts of several lists with the same order, each of which begins behind the same cursor. Items behind the nearest end
 * of a part are left out, because that part may have others before them.
 */
export function joinParts<Item>(
  parts: readonly Part<Item>[],
  cursorOf: (item: Item) => Cursor,
  order: Window['order'],
): Part<Item> {
  const compare = (a: Cursor, b: Cursor) => compareCursors(a, b, order)
  const [next] = parts.flatMap((part) => (part.next ? [part.next] : [])).toSorted(compare)
  const items = parts.flatMap((part) => part.items)
  return {
    items: items
      .filter((item) => next === undefined || compare(cursorOf(item), next) <= 0)
      .toSorted((a, b) => compare(cursorOf(a), cursorOf(b))),
    next,
  }
}

/** The items that are behind the cursor of the window, in its order. */
export function inWindow<Item>(
  items: readonly Item[],
  cursorOf: (item: Item) => Cursor,
  { after, order }: Pick<Window, 'after' | 'order'>,
): Item[] {
  const compare = (a: Cursor, b: Cursor) => compareCursors(a, b, order)
  return items
    .filter((item) => after === undefined || compare(cursorOf(item), after) > 0)
    .toSorted((a, b) => compare(cursorOf(a), cursorOf(b)))
}

function compareCursors(a: Cursor, b: Cursor, order: Window['order']): number {
  for (const [index, value] of a.entries()) {
    const other = b[index] as typeof value
    if (value !== other) return value < other === (order === 'asc') ? -1 : 1
  }
  return 0
}
