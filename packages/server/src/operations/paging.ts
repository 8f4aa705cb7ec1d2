import { setImmediate } from 'node:timers/promises'
import type { Cursor } from '../store/db.ts'
import type { Pages } from '../access/pages.ts'
import { type Reply, reply } from '../handler.ts'

export interface Window {
  limit: number
  after: Cursor | undefined
}

/** `v1` has no pages: everything at once, up to this many rows (spec 0.5). */
const everything = 10_000
/** Rows of one query. On SQLite their reading holds the event loop for some milliseconds. */
const rowsAtOnce = 500

/** All that `read` gives, read in slices between which other requests run. */
export async function listAll<T>(
  read: (window: Window) => Promise<T[]>,
  cursor: (item: T) => Cursor,
): Promise<T[]> {
  const found: T[] = []
  for (let after: Cursor | undefined; ;) {
    const limit = Math.min(rowsAtOnce, everything - found.length)
    const rows = await read({ limit, after })
    for (const row of rows) found.push(row)
    const last = rows.at(-1)
    if (!last || rows.length < limit || found.length === everything) return found
    after = cursor(last)
    await setImmediate()
  }
}

/** Presents rows in slices between which other requests run. */
export async function inSlices<T, Shown>(
  rows: readonly T[],
  present: (some: readonly T[]) => Promise<Shown[]>,
): Promise<Shown[]> {
  const shown: Shown[] = []
  for (let from = 0; from < rows.length; from += rowsAtOnce) {
    if (from > 0) await setImmediate()
    for (const one of await present(rows.slice(from, from + rowsAtOnce))) shown.push(one)
  }
  return shown
}

/** One page of what `read` gives, with the token of the next one. */
export async function page<T>(
  pages: Pages,
  input: { pageSize?: number; pageToken?: string },
  read: (window: Window) => Promise<T[]>,
  cursor: (item: T) => Cursor,
): Promise<Reply<T[]>> {
  const asked = pages.open({ ...input })
  const rows = await read({ limit: asked.size + 1, after: asked.after })
  const { items, nextPageToken } = pages.close(rows, asked, cursor)
  return reply([...items], { extra: { nextPageToken } })
}
