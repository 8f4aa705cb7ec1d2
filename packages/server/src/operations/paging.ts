import type { Cursor } from '../store/db.ts'
import type { Pages } from '../access/pages.ts'
import { type Reply, reply } from '../handler.ts'

export interface Window {
  limit: number
  after: Cursor | undefined
}

/** `v1` has no pages: everything at once, up to this many rows (spec 0.5). */
const everything = 10_000

export const listAll = <T>(read: (window: Window) => Promise<T[]>): Promise<T[]> =>
  read({ limit: everything, after: undefined })

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
