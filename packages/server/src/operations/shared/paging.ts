import { ApiError } from '@plenum/protocol'
import type { Page, Pages } from '../../calls/answers/page-tokens.ts'
import { type Requester, requesterOf } from '../../platform/turns/in-progress.ts'
import type { LongRead } from '../../platform/turns/long-reads.ts'
import type { Call } from '../../calls/call.ts'
import { type Reply, reply } from '../../calls/answers/reply.ts'
import type { Cursor } from '../../store/engine/db.ts'
import type { Part } from '../../store/engine/scan.ts'
import { JsonArrayEncoder, JsonGroupsEncoder } from '../../calls/answers/encoded-json.ts'

/** The rows that one query reads. */
export interface Window {
  limit: number
  /** How many more rows the answer has room for, and one more. */
  wanted: number
  after: Cursor | undefined
}

/** `v1` has no pages: one answer has all rows, up to this number (spec 0.5). */
const maxUnpagedRows = 10_000
/** Rows in one query. They have 4 MiB if each row has its maximum size. */
const defaultRowsPerQuery = 256
/** Items that are encoded without a pause. */
const maxItemsPerSlice = 4
/** A larger answer waits until few other large answers of the same API key are open. */
const maxSmallAnswerBytes = 1024 * 1024
export const maxAnswerBytes = 64 * 1024 * 1024

export const tooLarge = () =>
  new ApiError(
    'INVALID_ARGUMENT',
    'The answer would have more than 64 MiB. Read it in parts with a smaller pageSize, under v2.',
  )

/** How to read a stored list. */
interface List<T> {
  /** Returns fewer rows than the limit if no others follow, unless it is a part that says where the list goes on. */
  read: (window: Window) => Promise<T[] | Part<T>>
  /** The values of the columns that the list is ordered by. */
  cursor: (item: T) => Cursor
  /** Default: 256. Lists with larger rows set fewer. */
  rowsPerQuery?: number
  /** If set, `read` runs its statements with the `query` of this read, because it may run many. */
  reading?: LongRead
  /** The list has at most this many rows, because the caller named them. Default: no limit. */
  maxRows?: number
}

/** Turns stored rows into what callers read. */
type Present<Row, Shown> = (rows: readonly Row[]) => readonly Shown[] | Promise<readonly Shown[]>

/** Encodes items as JSON, a slice at a time. */
interface Encoder<Shown, Data> {
  readonly bytes: number
  add(items: readonly Shown[]): void
  end(): Data
}

interface PageInput {
  pageSize?: number
  pageToken?: string
}

type ListCall = {
  services: Pick<Call['services'], 'longReads'>
  caller: Requester
  user?: { userId: string } | undefined
  abandoned: AbortSignal | undefined
}

/** Answers the whole list. It is read and encoded in slices, between which other requests run. */
export async function listAll<Row, Shown>(
  call: ListCall,
  list: List<Row>,
  present: Present<Row, Shown>,
): Promise<Reply<Shown[]>> {
  const wanted = { size: maxUnpagedRows, after: undefined }
  return inPlace(call, list, async (reading) => {
    const first = await firstRows(call, list, wanted)
    if (isShort(first, wanted)) return reply(await presentAll(first.items, present), {})
    const { onSent, data } = await collect(reading, list, wanted, first, present, new JsonArrayEncoder())
    return reply(data as unknown as Shown[], { onSent })
  })
}

/** Answers one page of the list, with the token of the next page. */
export async function page<Row, Shown>(
  call: ListCall & { pages: Pages },
  input: PageInput,
  list: List<Row>,
  present: Present<Row, Shown>,
): Promise<Reply<Shown[]>> {
  const { pages } = call
  const wanted = pages.requested({ ...input })
  return inPlace(call, list, async (reading) => {
    const first = await firstRows(call, list, wanted)
    if (isShort(first, wanted)) return reply(await presentAll(first.items, present), {})
    const collected = await collect(reading, list, wanted, first, present, new JsonArrayEncoder())
    return withNextPage(collected, pages) as unknown as Reply<Shown[]>
  })
}

/** Answers one page of the list, with its items in groups. */
export async function pageOfGroups<Row, Shown>(
  call: ListCall & { pages: Pages },
  input: PageInput,
  list: List<Row>,
  present: Present<Row, readonly [group: string, item: Shown]>,
): Promise<Reply<Record<string, Shown[]>>> {
  const { pages } = call
  const wanted = pages.requested({ ...input })
  return inPlace(call, list, async (reading) => {
    const first = await firstRows(call, list, wanted)
    const collected = await collect(reading, list, wanted, first, present, new JsonGroupsEncoder())
    return withNextPage(collected, pages) as unknown as Reply<Record<string, Shown[]>>
  })
}

/** Runs a read of a list that has a place in memory for its rows. A few rows need none. */
function inPlace<Row, T>(
  { caller, user, abandoned, services: { longReads } }: ListCall,
  list: List<Row>,
  read: (reading: LongRead) => Promise<T>,
): Promise<T> {
  const reading = list.reading ?? longReads.open(requesterOf(caller, user), abandoned)
  const isSmall = list.maxRows !== undefined && list.maxRows <= maxItemsPerSlice
  return isSmall ? read(reading) : readInPlace(reading, read)
}

async function readInPlace<T>(reading: LongRead, read: (reading: LongRead) => Promise<T>): Promise<T> {
  const waiting = reading.enter()
  if (waiting) await waiting
  try {
    return await read(reading)
  } catch (error) {
    reading.close()
    throw error
  } finally {
    reading.leave()
  }
}

/** Adds `pageToken` to `nextPageToken`: lists of documents and notifications return the token under both names (spec 0.5). */
export function withPageToken<T>(answer: Reply<T>): Reply<T> {
  const { data, extra, onSent } = answer
  return reply(data, { extra: { pageToken: extra?.nextPageToken, ...extra }, onSent })
}

/** The next query reads at most one row more than the page still needs. That row shows that another page follows. */
const windowOf = <Row>(
  { rowsPerQuery = defaultRowsPerQuery }: List<Row>,
  left: number,
  after: Cursor | undefined,
): Window => ({ limit: Math.min(rowsPerQuery, left + 1), wanted: left + 1, after })

export async function readPart<Row>(list: Pick<List<Row>, 'read'>, window: Window): Promise<Part<Row>> {
  const rows = await list.read(window)
  return Array.isArray(rows) ? { items: rows } : rows
}

const firstRows = <Row>(
  { caller, services: { longReads } }: ListCall,
  list: List<Row>,
  { size, after }: Page,
) => {
  const read = () => readPart(list, windowOf(list, size, after))
  return list.reading ? read() : longReads.query(caller.apiKey, read, list.maxRows)
}

const presentAll = <Row, Shown>(rows: Row[], present: Present<Row, Shown>) =>
  (rows.length > 0 ? present(rows) : []) as Shown[] | Promise<Shown[]>

/** Whether the first query has found all rows, and few enough for one slice. This is true for most lists. */
const isShort = ({ items, next }: Part<unknown>, { size }: Page) =>
  next === undefined && items.length <= Math.min(maxItemsPerSlice, size)

interface Collected<Data> {
  data: Data
  /** The page ends here. Undefined: no other page follows. */
  next: Cursor | undefined
  onSent: (() => void) | undefined
}

const withNextPage = <Data>({ data, next, onSent }: Collected<Data>, pages: Pages) =>
  reply(data, { extra: { nextPageToken: next && pages.tokenAfter(next) }, onSent })

/** Reads the rest of a page after its first rows, and encodes all rows slice by slice. */
async function collect<Row, Shown, Data>(
  reading: LongRead,
  list: List<Row>,
  { size, after }: Page,
  first: Part<Row>,
  present: Present<Row, Shown>,
  encoder: Encoder<Shown, Data>,
): Promise<Collected<Data>> {
  let left = size
  let window = windowOf(list, left, after)
  let { items: rows, next } = first
  let last: Cursor | undefined
  for (;;) {
    const isLast = rows.length < window.limit
    const count = Math.min(rows.length, left)
    const isOver = isLast || rows.length > count
    if (count > 0) await encodeSlices(reading, await present(rows.slice(0, count)), encoder)
    if (encoder.bytes > maxAnswerBytes) throw tooLarge()
    if (count > 0) last = list.cursor(rows[count - 1] as Row)
    if (!isLast) next = last
    left -= count
    // The rows must not take memory while the answer waits to become large.
    rows = []
    if (encoder.bytes > maxSmallAnswerBytes) await reading.becomeLarge()
    if (isOver) {
      const onSent = reading.isLarge ? () => reading.close() : undefined
      return { data: encoder.end(), next, onSent }
    }
    const following = windowOf(list, left, last)
    const read = () => readPart(list, following)
    window = following
    ;({ items: rows, next } = await (list.reading ? read() : reading.query(read)))
  }
}

/** Encodes a list slice by slice, as part of an answer that has several. */
export async function encodeList(
  slices: LongRead,
  shown: readonly unknown[],
): Promise<{ data: unknown; bytes: number }> {
  const encoder = new JsonArrayEncoder()
  await encodeSlices(slices, shown, encoder)
  if (encoder.bytes > maxSmallAnswerBytes) await slices.becomeLarge()
  return { data: encoder.end(), bytes: encoder.bytes }
}

async function encodeSlices<Shown, Data>(
  slices: LongRead,
  shown: readonly Shown[],
  encoder: Encoder<Shown, Data>,
): Promise<void> {
  for (let from = 0; from < shown.length; from += maxItemsPerSlice) {
    if (slices.isSliceOver) await slices.nextSlice()
    encoder.add(shown.slice(from, from + maxItemsPerSlice))
  }
}
