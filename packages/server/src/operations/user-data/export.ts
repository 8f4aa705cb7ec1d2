import type { Operations, UserData } from '@plenum/protocol'
import { type Reply, reply } from '../../calls/answers/reply.ts'
import type { Call } from '../../calls/call.ts'
import type { LongRead } from '../../platform/turns/long-reads.ts'
import { listGrantsOf } from '../../store/access/user-grants.ts'
import * as activityLists from '../../store/activities/lists.ts'
import { listReactionsOf } from '../../store/comments/user-threads.ts'
import type { StoredActivity } from '../../store/activities/lists.ts'
import type { Cursor } from '../../store/engine/db.ts'
import { cursorOf, type Part } from '../../store/engine/scan.ts'
import * as userRows from '../../store/exports/user-rows.ts'
import * as notificationLists from '../../store/notifications/lists.ts'
import type { StoredNotification } from '../../store/notifications/lists.ts'
import { findAddressee } from '../../store/notifications/recipients.ts'
import * as users from '../../store/users/users.ts'
import { presentActivities } from '../activities.ts'
import { presentNotifications } from '../notifications/notifications.ts'
import { encodeList, readPart, type Window } from '../shared/paging.ts'
import { scannedList, scanningOf } from '../shared/scanned-list.ts'
import { listCommentsOf } from './exported-comments.ts'

type Get = Operations['userData']['get']

/** Items of one list on a page (spec 0.5). */
const pageSize = 100
/** Items that one query reads. Each may have 16 KiB. */
const rowsPerQuery = 32

/** Rows that one page reads of tables without an index by user: less than a second. */
const maxScannedRows = 5_000

/** One list of the export. `Row`: what is stored. */
interface ExportedList<Row> {
  read: (window: Window) => Promise<Row[] | Part<Row>>
  cursor: (row: Row) => Cursor
  present: (rows: readonly Row[]) => readonly unknown[] | Promise<readonly unknown[]>
  /** In a scan, what is kept of a row. Undefined: nothing, because the row is not of the user. */
  keep?: (row: Row) => unknown
  /** Rows of one read in a scan. */
  rowsPerStep?: number
}

const asList = <Row>(list: ExportedList<Row>) => list as ExportedList<unknown>

/** The names of the lists, in the order in which they are read. */
const names = [
  'resources',
  'comments',
  'reactions',
  'notifications',
  'activities',
  'groups',
  'preferences',
  'involvements',
  'causedNotifications',
  'presence',
  'versions',
] as const

/** Reads the lists one after the other, so that the token of a page names one place in one list. */
export async function exportUserData(call: Call<Get>): Promise<Reply<UserData>> {
  const { input, caller, db, pages, services } = call
  const { after } = pages.requested({ ...input }, pageSize)
  const slices = services.longReads.open(caller, call.abandoned)
  await slices.enter()
  try {
    const lists = await listsOf(call, slices)
    const [first, ...cursor] = after ?? [0]
    const data: Record<string, unknown> = { recordings: [] }
    let next: Cursor | undefined
    for (const [index, name] of names.entries()) {
      const isRead = index >= (first as number) && next === undefined
      const start = index === first && cursor.length > 0 ? cursor : undefined
      const page = isRead ? await readPage(lists[name], start) : { shown: [], next: undefined }
      data[name] = (await encodeList(slices, page.shown)).data
      if (page.next) next = [index, ...page.next]
    }
    if (!after) data.user = (await users.findMany(db, caller.apiKey, [input.userId])).get(input.userId)
    const extra = { nextPageToken: next && pages.tokenAfter(next) }
    const onSent = slices.isLarge ? () => slices.close() : undefined
    return reply(data as UserData, { extra, onSent })
  } catch (error) {
    slices.close()
    throw error
  } finally {
    slices.leave()
  }
}

async function listsOf(
  call: Call<Get>,
  reading: LongRead,
): Promise<Record<(typeof names)[number], ExportedList<unknown>>> {
  const { input, caller, db } = call
  const { organizationId, userId } = input
  const { apiKey } = caller
  const user = await findAddressee(db, apiKey, userId)
  const order = 'asc' as const
  const scanning = scanningOf(reading)
  const scanned = <Row>(scan: userRows.Scan<Row, object>, present: ExportedList<unknown>['present']) =>
    asList<Row>({
      read: ({ after }) => reading.query(() => userRows.readStep(db, apiKey, input, scan, after)),
      cursor: (row) => userRows.cursorOf(scan.source, row),
      present,
      keep: (row) => scan.itemOf(row, userId),
      rowsPerStep: scan.rowsPerStep,
    })
  return {
    resources: asList({
      read: (window) => reading.query(() => listGrantsOf(db, apiKey, input, window)),
      cursor: ({ type, id }) => [type, id],
      present: (rows) => rows,
    }),
    comments: asList(listCommentsOf(call, input, reading)),
    reactions: asList({
      read: (window) => reading.query(() => listReactionsOf(db, apiKey, input, window)),
      cursor: ({ createdAt, documentId, number, commentId, icon }) => [
        createdAt,
        documentId,
        number,
        commentId,
        icon,
      ],
      present: (rows) => rows.map(({ number: _, ...reaction }) => reaction),
    }),
    notifications: asList<StoredNotification>({
      read: scannedList({
        scanning,
        find: (window) =>
          notificationLists.findPositions(
            db,
            apiKey,
            { organizationId, user },
            { ...window, order },
            scanning,
          ),
        cursorOf,
        load: (positions) =>
          reading.query(() => notificationLists.readPositions(db, apiKey, organizationId, positions)),
      }),
      cursor: ({ timestamp, key }) => [timestamp, key],
      present: (rows) => presentNotifications(call, organizationId, rows),
    }),
    groups: asList({
      read: (window) => reading.query(() => userRows.listGroupsOf(db, apiKey, input, window)),
      cursor: ({ groupId }) => [groupId],
      present: (rows) => rows,
    }),
    preferences: asList({
      read: (window) => reading.query(() => userRows.listPreferencesOf(db, apiKey, input, window)),
      cursor: ({ documentId }) => [documentId],
      present: (rows) => rows,
    }),
    involvements: asList({
      read: (window) => reading.query(() => userRows.listInvolvementsOf(db, apiKey, input, window)),
      cursor: ({ documentId, number, involvement }) => [documentId, number, involvement],
      present: (rows) => rows.map(({ number: _, ...involvement }) => involvement),
    }),
    causedNotifications: scanned(userRows.causedScan, (rows) =>
      presentNotifications(call, organizationId, rows as StoredNotification[]),
    ),
    presence: scanned(userRows.presenceScan, (rows) => rows),
    versions: scanned(userRows.versionScan, (rows) => rows),
    activities: asList<StoredActivity>({
      read: scannedList({
        scanning,
        find: (window) =>
          activityLists.findPositions(db, apiKey, { organizationId, userId }, { ...window, order }, scanning),
        cursorOf,
        load: (positions) => {
          const ids = positions.map(({ key }) => key)
          return reading.query(() => activityLists.findMany(db, apiKey, organizationId, ids))
        },
      }),
      cursor: ({ timestamp, id }) => [timestamp, id],
      present: (rows) => presentActivities(call, organizationId, rows),
    }),
  }
}

/** Reads up to a page of a list. `next`: there are more items behind it. */
async function readPage(
  list: ExportedList<unknown>,
  start: Cursor | undefined,
): Promise<{ shown: readonly unknown[]; next: Cursor | undefined }> {
  const { read, cursor, present, keep } = list
  if (keep) return scanPage(list, keep, start)
  const shown: unknown[] = []
  let after = start
  for (;;) {
    const left = pageSize - shown.length
    const limit = Math.min(rowsPerQuery, left + 1)
    const part = await readPart({ read }, { limit, wanted: left + 1, after })
    const kept = part.items.slice(0, left)
    if (kept.length > 0) shown.push(...(await present(kept)))
    if (part.items.length < limit) return { shown, next: part.next }
    const last = kept.at(-1)
    if (last !== undefined) after = cursor(last)
    if (part.items.length > kept.length) return { shown, next: after }
  }
}

/** Reads the rows of a table until a page is full, or enough rows were read. */
async function scanPage(
  { read, cursor, present, rowsPerStep = 0 }: ExportedList<unknown>,
  keep: (row: unknown) => unknown,
  start: Cursor | undefined,
): Promise<{ shown: readonly unknown[]; next: Cursor | undefined }> {
  const kept: unknown[] = []
  const page = async (next: Cursor | undefined) => ({
    shown: kept.length === 0 ? [] : await present(kept),
    next,
  })
  let after = start
  for (let scanned = 0; scanned < maxScannedRows; scanned += rowsPerStep) {
    const part = await read({ limit: rowsPerStep, wanted: rowsPerStep, after })
    const rows = Array.isArray(part) ? part : part.items
    for (const row of rows) {
      const item = keep(row)
      if (item !== undefined && kept.length === pageSize) return page(after)
      if (item !== undefined) kept.push(item)
      after = cursor(row)
    }
    if (rows.length < rowsPerStep) return page(undefined)
  }
  return page(after)
}
