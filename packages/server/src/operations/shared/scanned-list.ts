import type { LongRead } from '../../platform/turns/long-reads.ts'
import type { Cursor } from '../../store/engine/db.ts'
import { type Part, type Scanning, scanningAll } from '../../store/engine/scan.ts'
import type { Window } from './paging.ts'

/**
 * Rows that one page scans before it ends with the items that it has found. On PostgreSQL 5,000 rows take about 60 ms, and on
 * SQLite as long, in slices.
 */
const maxScannedRows = 5000
/** Items of a page that are loaded and then left out before the page ends. Each may have 16 KiB. */
const maxDropped = 500

/** How a page scans its list: each statement waits for its turn. A list without pages is scanned to its end. */
export const scanningOf = (reading: LongRead, { hasPages = true } = {}): Scanning => ({
  ...scanningAll((statement) => reading.query(statement)),
  ...(hasPages && { rowsLeft: maxScannedRows }),
})

interface ScannedList<Position, Row> {
  scanning: Scanning
  /** Finds the next items. It may find more than `limit`. */
  find: (window: { limit: number; after: Cursor | undefined }) => Promise<Part<Position>>
  cursorOf: (position: Position) => Cursor
  /** Reads the contents of items, without those that are gone or that the caller may not read. */
  load: (positions: readonly Position[]) => Promise<Row[]>
}

/**
 * Reads a list in two steps: a scan finds items, whose contents are then loaded a few at a time. The windows that are read
 * follow each other. A window ends early, with the cursor where the list goes on, after very many rows.
 */
export function scannedList<Position, Row>({
  scanning,
  find,
  cursorOf,
  load,
}: ScannedList<Position, Row>): (window: Window) => Promise<Part<Row>> {
  /** Found, but not loaded yet. */
  let ahead: Position[] = []
  /** Where the scan goes on. Undefined: it is over. */
  let rest: { after: Cursor | undefined } | undefined
  let isBegun = false
  let dropsLeft = maxDropped
  return async ({ limit, wanted, after }) => {
    if (!isBegun) rest = { after }
    isBegun = true
    const items: Row[] = []
    for (let last: Cursor | undefined; items.length < limit;) {
      if (ahead.length > 0) {
        if (dropsLeft <= 0 && last) return { items, next: last }
        const some = ahead.splice(0, limit - items.length)
        const loaded = await load(some)
        items.push(...loaded)
        dropsLeft -= some.length - loaded.length
        last = cursorOf(some.at(-1) as Position)
      } else {
        if (!rest) return { items }
        if (scanning.rowsLeft <= 0) return { items, next: rest.after }
        const part = await find({ limit: wanted - items.length, after: rest.after })
        ahead = part.items
        rest = part.next && { after: part.next }
      }
    }
    return { items }
  }
}
