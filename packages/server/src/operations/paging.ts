import { ApiError } from '@plenum/protocol'
import type { Page, Pages } from '../access/pages.ts'
import { type Call, type LongRead, type Reply, reply } from '../calls/call.ts'
import type { Cursor } from '../store/engine/db.ts'
import { WrittenArray, WrittenGroups } from '../calls/written-json.ts'

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
  const first = await firstRows(call, list, asked)
  if (isShort(first, asked)) return reply(await shownAtOnce(first, present), {})
  const { onSent, data } = await collect(call, list, asked, first, present, new WrittenArray())
  return reply(data as unknown as Shown[], { onSent })
}

/** One page of it, with the token of the next one. */
export async function page<Row, Shown>(
  call: Caller & { pages: Pages },
  input: PageInput,
  list: List<Row>,
  present: Present<Row, Shown>,
): Promise<Reply<Shown[]>> {
  const { pages } = call
  const asked = pages.open({ ...input })
  const first = await firstRows(call, list, asked)
  if (isShort(first, asked)) return reply(await shownAtOnce(first, present), {})
  const collected = await collect(call, list, asked, first, present, new WrittenArray())
  return withNextPage(collected, list, pages) as unknown as Reply<Shown[]>
}

/** The same with the items in groups. */
export async function pageOfGroups<Row, Shown>(
  call: Caller & { pages: Pages },
  input: PageInput,
  list: List<Row>,
  present: Present<Row, readonly [group: string, item: Shown]>,
): Promise<Reply<Record<string, Shown[]>>> {
  const { pages } = call
  const asked = pages.open({ ...input })
  const first = await firstRows(call, list, asked)
  const collected = await collect(call, list, asked, first, present, new WrittenGroups())
  return withNextPage(collected, list, pages) as unknown as Reply<Record<string, Shown[]>>
}

/** Lists of documents and notifications give the token under two names (spec 0.5). */
export function withPageToken<T>(answer: Reply<T>): Reply<T> {
  const { data, extra, onSent } = answer
  return reply(data, { extra: { pageToken: extra?.nextPageToken, ...extra }, onSent })
}

/** With the first one behind the page, which tells that there are more. */
const limitOf = <Row>({ rowsAtOnce = smallRowsAtOnce }: List<Row>, left: number) =>
  Math.min(rowsAtOnce, left + 1)

const firstRows = <Row>({ longReads, caller }: Caller, list: List<Row>, { size, after }: Page) =>
  longReads.query(caller.apiKey, () => list.read({ limit: limitOf(list, size), after }))

const shownAtOnce = <Row, Shown>(rows: Row[], present: Present<Row, Shown>) =>
  (rows.length > 0 ? present(rows) : []) as Shown[] | Promise<Shown[]>

/** Most lists are: they need no slices. */
const isShort = (first: readonly unknown[], { size }: Page) => first.length <= Math.min(writtenAtOnce, size)

interface Collected<Row, Data> {
  data: Data
  /** The last row of the page, if there are more behind it. */
  last: Row | undefined
  onSent: (() => void) | undefined
}

const withNextPage = <Row, Data>(
  { data, last, onSent }: Collected<Row, Data>,
  { cursor }: List<Row>,
  pages: Pages,
) => reply(data, { extra: { nextPageToken: last && pages.tokenAfter(cursor(last)) }, onSent })

/** Reads the rows of a page behind the first ones, and writes all of them as JSON, slice by slice. */
async function collect<Row, Shown, Data>(
  { longReads, caller }: Caller,
  list: List<Row>,
  { size }: Page,
  first: Row[],
  present: Present<Row, Shown>,
  written: Writer<Shown, Data>,
): Promise<Collected<Row, Data>> {
  const slices = longReads.begin(caller.apiKey)
  let left = size
  let rows = first
  let last: Row | undefined
  try {
    for (;;) {
      const isLast = rows.length < limitOf(list, left)
      const kept = rows.slice(0, left)
      if (kept.length > 0) await writeSlices(slices, await present(kept), written)
      if (written.bytes > maxBytes) throw tooLarge()
      if (written.bytes > largeBytes) await slices.becomeLarge()
      last = kept.at(-1) ?? last
      left -= kept.length
      if (isLast || rows.length > kept.length) {
        const onSent = slices.isLarge ? () => slices.end() : undefined
        return { data: written.end(), last: isLast ? undefined : last, onSent }
      }
      const window = { limit: limitOf(list, left), after: last && list.cursor(last) }
      rows = await slices.query(() => list.read(window))
    }
  } catch (error) {
    slices.end()
    throw error
  }
}

async function writeSlices<Shown, Data>(
  slices: LongRead,
  shown: readonly Shown[],
  written: Writer<Shown, Data>,
): Promise<void> {
  for (let from = 0; from < shown.length; from += writtenAtOnce) {
    if (slices.isDue) await slices.next()
    written.add(shown.slice(from, from + writtenAtOnce))
  }
}
