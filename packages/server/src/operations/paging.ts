import { ApiError } from '@plenum/protocol'
import type { Page, Pages } from '../access/pages.ts'
import { type Call, type LongRead, type Reply, reply } from '../handler.ts'
import type { Cursor } from '../store/db.ts'
import { WrittenArray, WrittenGroups } from '../written-json.ts'

export interface Window {
  limit: number
  after: Cursor | undefined
}

/** `v1` has no pages: everything at once, up to this many rows (spec 0.5). */
const everything = 10_000
/** Rows of one query: 4 MiB, if each holds as much as it may. */
const smallRowsAtOnce = 256
/** Items that are written at a time. */
const writtenAtOnce = 4
/** An answer with more waits for others of its key. */
const largeBytes = 1024 * 1024
const maxBytes = 64 * 1024 * 1024

const tooLarge = () =>
  new ApiError(
    'INVALID_ARGUMENT',
    'The answer would have more than 64 MiB. Read it in parts with a smaller pageSize, under v2.',
  )

/** A list and how it is read. */
interface List<T> {
  read: (window: Window) => Promise<T[]>
  /** The values of the order's columns. */
  cursor: (item: T) => Cursor
  /** Rows of one query, if they are larger than others. */
  rowsAtOnce?: number
}

/** Most lists are short. */
const smallOrWritten = () => new WrittenArray({ keepsFirst: true })

/** Rows as they are shown to the caller. */
type Present<Row, Shown> = (rows: readonly Row[]) => readonly Shown[] | Promise<readonly Shown[]>

/** Writes what is added as JSON. */
interface Writer<Shown, Data> {
  readonly bytes: number
  add(items: readonly Shown[]): void
  end(): Data
}

interface PageInput {
  pageSize?: number
  pageToken?: string
}

type Caller = Pick<Call, 'longReads'> & { caller: { apiKey: string } }

/** All of it, read and written in slices between which other requests run. */
export async function listAll<Row, Shown>(
  call: Caller,
  list: List<Row>,
  present: Present<Row, Shown>,
): Promise<Reply<Shown[]>> {
  const asked = { size: everything, after: undefined }
  const { onSent, data } = await collect(call, list, asked, present, smallOrWritten())
  return reply(data as unknown as Shown[], { onSent })
}

/** One page of it, with the token of the next one. */
export async function page<Row, Shown>(
  call: Caller & { pages: Pages },
  input: PageInput,
  list: List<Row>,
  present: Present<Row, Shown>,
): Promise<Reply<Shown[]>> {
  return (await pageInto(smallOrWritten(), call, input, list, present)) as unknown as Reply<Shown[]>
}

/** The same with the items in groups. */
export async function pageOfGroups<Row, Shown>(
  call: Caller & { pages: Pages },
  input: PageInput,
  list: List<Row>,
  present: Present<Row, readonly [group: string, item: Shown]>,
): Promise<Reply<Record<string, Shown[]>>> {
  const answer = await pageInto(new WrittenGroups(), call, input, list, present)
  return answer as unknown as Reply<Record<string, Shown[]>>
}

/** Lists of documents and notifications give the token under two names (spec 0.5). */
export function withPageToken<T>(answer: Reply<T>): Reply<T> {
  const { data, extra, onSent } = answer
  return reply(data, { extra: { pageToken: extra?.nextPageToken, ...extra }, onSent })
}

async function pageInto<Row, Shown, Data>(
  written: Writer<Shown, Data>,
  call: Caller & { pages: Pages },
  input: PageInput,
  list: List<Row>,
  present: Present<Row, Shown>,
): Promise<Reply<Data>> {
  const { pages } = call
  const asked = pages.open({ ...input })
  const { data, last, onSent } = await collect(call, list, asked, present, written)
  const nextPageToken = last && pages.tokenAfter(list.cursor(last))
  return reply(data, { extra: { nextPageToken }, onSent })
}

/** Writes the rows of a page as JSON. Gives the last of them if there are more. */
async function collect<Row, Shown, Data>(
  { longReads, caller }: Caller,
  list: List<Row>,
  asked: Page,
  present: Present<Row, Shown>,
  written: Writer<Shown, Data>,
): Promise<{ data: Data; last: Row | undefined; onSent: (() => void) | undefined }> {
  const slices = longReads.begin(caller.apiKey)
  try {
    const last = await readSlices(slices, list, asked, async (rows) => {
      const shown = await present(rows)
      for (let from = 0; from < shown.length; from += writtenAtOnce) {
        if (slices.isDue) await slices.next()
        written.add(shown.slice(from, from + writtenAtOnce))
      }
      if (written.bytes > maxBytes) throw tooLarge()
      if (written.bytes > largeBytes) await slices.becomeLarge()
    })
    return { data: written.end(), last, onSent: slices.isLarge ? () => slices.end() : undefined }
  } catch (error) {
    slices.end()
    throw error
  }
}

/** Reads the rows of a page slice by slice. Gives the last one if there are more behind it. */
async function readSlices<T>(
  slices: LongRead,
  { read, cursor, rowsAtOnce = smallRowsAtOnce }: List<T>,
  { size, after: start }: Page,
  add: (rows: readonly T[]) => Promise<void>,
): Promise<T | undefined> {
  let left = size
  let last: T | undefined
  for (;;) {
    // With the first one behind the page, which tells that there are more.
    const limit = Math.min(rowsAtOnce, left + 1)
    const after = last ? cursor(last) : start
    const rows = await slices.query(() => read({ limit, after }))
    const kept = rows.slice(0, left)
    if (kept.length > 0) await add(kept)
    last = kept.at(-1) ?? last
    left -= kept.length
    if (rows.length > kept.length) return last
    if (rows.length < limit) return undefined
  }
}
