import { yieldIfLate } from '../../platform/turns/loop-time.ts'
import type { Cursor, Db } from './db.ts'
import { sqliteOf } from './prepared.ts'

/** A part of a list that is ordered by time, then key. */
export interface Window {
  limit: number
  after: Cursor | undefined
  order: 'asc' | 'desc'
}

/** An item of the list: the columns that the list is ordered by. */
export interface Position {
  key: string
  timestamp: number
}

/** One statement scans this many rows: 2 ms on SQLite. On PostgreSQL a statement is a round trip, so it scans more. */
export const rowsPerScan = (db: Db) => (sqliteOf(db) ? 200 : 2000)

export const cursorOf = ({ timestamp, key }: Position): Cursor => [timestamp, key]

/** Reads the next rows in the order of the list, and whether each fits. */
export type ScanStep<P extends Position> = (window: Window) => Promise<(P & { fits: boolean })[]>

/**
 * Scans rows in order, in short steps, until enough of them fit. All `steps` lead to the same items in the same order,
 * through different rows. They take turns, so the cost is that of the one with the fewest rows, times their number.
 */
export async function scan<P extends Position>(
  db: Db,
  window: Window,
  ...steps: ScanStep<P>[]
): Promise<P[]> {
  const scans = steps.map((step) => ({ step, next: window, found: [] as P[] }))
  for (;;) {
    for (const scan of scans) {
      const { found, next } = scan
      const rows = await scan.step(next)
      for (const row of rows) if (row.fits) found.push(row)
      const last = rows.at(-1)
      if (!last || rows.length < next.limit || found.length >= window.limit) {
        return found.slice(0, window.limit)
      }
      scan.next = { ...window, limit: rowsPerScan(db), after: cursorOf(last) }
      await yieldIfLate()
    }
  }
}

/** Orders the positions and returns those that are in the window. */
export function inWindow<P extends Position>(positions: readonly P[], { limit, after, order }: Window): P[] {
  const sign = order === 'asc' ? 1 : -1
  const compare = (a: Position, b: Position) =>
    sign * (a.timestamp - b.timestamp || (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))
  const [timestamp, key] = (after ?? [0, '']) as [number, string]
  const behind = after ? positions.filter((one) => compare(one, { timestamp, key }) > 0) : positions
  return behind.toSorted(compare).slice(0, limit)
}
