import type { Cursor } from '../store/db.ts'
import type { Pages } from '../access/pages.ts'
import { type Call, type Reply, reply } from '../handler.ts'
import { WrittenArray } from '../written-json.ts'

export interface Window {
  limit: number
  after: Cursor | undefined
}

/** `v1` has no pages: everything at once, up to this many rows (spec 0.5). */
const everything = 10_000
/** Rows of one query. On SQLite their reading holds the event loop for some milliseconds. */
const rowsAtOnce = 500

/** All that `read` gives, read and written in slices between which other requests run. */
export async function listAll<T, Shown = T>(
  { longReads, caller }: Pick<Call, 'longReads'> & { caller: { apiKey: string } },
  read: (window: Window) => Promise<T[]>,
  cursor: (item: T) => Cursor,
  present: (rows: T[]) => readonly Shown[] | Promise<readonly Shown[]> = (rows) => rows as unknown as Shown[],
): Promise<Reply<Shown[]>> {
  const slices = longReads.begin(caller.apiKey)
  try {
    const written = new WrittenArray()
    let left = everything
    for (let after: Cursor | undefined; ;) {
      const limit = Math.min(rowsAtOnce, left)
      const rows = await read({ limit, after })
      written.add(await present(rows))
      left -= rows.length
      const last = rows.at(-1)
      if (!last || rows.length < limit || left === 0) break
      after = cursor(last)
      await slices.next()
    }
    return reply(written.end() as unknown as Shown[], { onSent: () => slices.end() })
  } catch (error) {
    slices.end()
    throw error
  }
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
