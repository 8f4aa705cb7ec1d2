import { ApiError, type CommentAnnotation, type Input, type Operations } from '@plenum/protocol'
import { decide } from '../../access/permissions.ts'
import { loadSubjects } from '../../access/subjects.ts'
import { createVisible } from '../../access/viewers.ts'
import type { Visible } from '../../store/comments/audience.ts'
import { reply } from '../../calls/answers/reply.ts'
import type { Call, Handlers } from '../../calls/call.ts'
import * as annotations from '../../store/comments/annotations.ts'
import { refKey } from '../../store/comments/comments.ts'
import { count, cursorOf, type Filter, findPositions, type Position } from '../../store/comments/lists.ts'
import type { Cursor } from '../../store/engine/db.ts'
import { findUnread } from '../../store/comments/views.ts'
import { root } from '../../store/documents/folders.ts'
import { unique } from '../shared/batches.ts'
import { storedLocationIds } from '../shared/locations.ts'
import { listAll, page, pageOfGroups, type Window } from '../shared/paging.ts'
import { scannedList, scanningOf } from '../shared/scanned-list.ts'
import { denied } from '../shared/calling-user.ts'
import { findAccess, requireAccess } from './acting-user.ts'
import { addAnnotations } from './add-annotations.ts'
import { deleteAnnotations } from './delete-annotations.ts'
import { createLocateRanges, type LocateRanges } from './located-ranges.ts'
import { presentAnnotations } from './present.ts'
import { viewHandlers } from './views.ts'
import { updateAnnotations } from './update-annotations.ts'

type Family = Operations['commentAnnotations']
type Get = Family['get']

/** Fewer than in other lists, because each row comes with its comments: a page of fifty, and the row that shows another one. */
const rowsPerQuery = 51

export const annotationHandlers: Handlers<Family> = {
  ...viewHandlers,

  add: addAnnotations,

  async get(call) {
    const { input, version } = call
    if (version === 'v1' && input.documentId === undefined) {
      throw new ApiError('INVALID_ARGUMENT', 'documentId is required.')
    }
    const visible = await requireAccessToAll(call)
    const source = input.annotationIds
      ? await namedAnnotations(call, unique(input.annotationIds), visible)
      : allAnnotations(call, visible)
    const locateRanges = createLocateRanges(call)
    const shown = (slots: readonly Slot[]) => present(call, slots, locateRanges)
    if (version === 'v1') return listAll(call, source, shown)
    const paging = input.annotationIds ? {} : input
    if (!input.groupByDocumentId) {
      const { data, extra, onSent } = await page(call, paging, source, shown)
      return reply(data, { message: listMessage, extra: { ...extra }, onSent })
    }
    return pageOfGroups(call, paging, source, async (slots) => {
      const found = await shown(slots)
      return found.flatMap((one) => (one ? [[String(one.metadata.documentId), one] as const] : []))
    })
  },

  update: updateAnnotations,

  delete: deleteAnnotations,

  async count(call) {
    const {
      input,
      caller,
      db,
      services: { longReads },
    } = call
    const { organizationId, userId, statusIds } = input
    if (caller.user && caller.user.userId !== userId) throw denied('userId must be the user of the token.')
    const documentIds = unique(input.documentIds)
    const reading = longReads.open(caller, call.abandoned)
    const visibleIn = await createReader(call, documentIds, reading.pause)
    const counts: [string, { total: number; unread: number }][] = []
    for (const documentId of documentIds) {
      const visible = await visibleIn(documentId)
      const of = { organizationId, documentId, userId, statusIds }
      counts.push([
        documentId,
        visible ? await count(db, caller.apiKey, of, visible, reading) : { total: 0, unread: 0 },
      ])
    }
    return Object.fromEntries(counts)
  },
}

const listMessage = 'Annotation(s) fetched successfully.'

function filterOf(input: Input<Get>): Filter {
  const { organizationId, documentId, documentIds, folderId, locationIds, statusId } = input
  const named = documentId === undefined ? documentIds : [documentId]
  return {
    organizationId,
    documentIds: named && unique(named).filter((id) => documentIds?.includes(id) ?? true),
    folderId: folderId === root ? null : folderId,
    locationIds: locationIds && storedLocationIds(locationIds),
    authorIds: input.userIds,
    mentionedIds: input.mentionedUserIds,
    statusIds: input.statusIds ?? (statusId === undefined ? undefined : [statusId]),
    resolvedBy: input.resolvedBy,
    updated: { after: input.updatedAfter, before: input.updatedBefore },
    created: { after: input.createdAfter, before: input.createdBefore },
  }
}

/**
 * A user names the documents. All of them must be readable. They are in one organization, so what the user may see does not
 * depend on the document.
 */
async function requireAccessToAll(call: Call<Get>): Promise<Visible | undefined> {
  const { organizationId, documentId: single, documentIds = [] } = call.input
  if (!call.caller.user) return undefined
  const named = unique([...(single === undefined ? [] : [single]), ...documentIds])
  if (named.length === 0) throw new ApiError('INVALID_ARGUMENT', 'documentId is required.')
  let visible: Visible | undefined
  for (const documentId of named) {
    visible = await requireAccess(call, { organizationId, documentId }, 'read')
  }
  return visible
}

/** What the user of a count may see in each document; undefined: the user may not read the document. */
async function createReader(
  call: Call<Family['count']>,
  documentIds: readonly string[],
  pause: () => Promise<void>,
): Promise<(documentId: string) => Promise<Visible | undefined>> {
  const { caller, db, now } = call
  const { organizationId, userId } = call.input
  const { user, apiKey } = caller
  if (user) {
    return async (documentId) => {
      await pause()
      const { decision, visible } = await findAccess(call, user, { organizationId, documentId })
      return decision.allowed ? visible : undefined
    }
  }
  const subjects = await loadSubjects(db, caller, organizationId, [userId], { documentIds }, pause)
  const visible = createVisible(db, { apiKey, organizationId, userId, now })
  return async (documentId) => {
    const subject = subjects?.document(userId, documentId)
    return subject !== undefined && decide(subject, now / 1000).allowed ? visible : undefined
  }
}

/** A place in an answer. */
interface Slot {
  /** Undefined: the requested annotation does not exist. */
  position: Position | undefined
  cursor: Cursor
}

/** The list of all annotations that fit the filters. */
function allAnnotations(
  { input, db, caller, version, services, abandoned }: Call<Get>,
  visible: Visible | undefined,
) {
  const { apiKey } = caller
  const filter = filterOf(input)
  const { order = 'desc' } = input
  const reading = services.longReads.open(caller, abandoned)
  const scanning = scanningOf(reading, { hasPages: version !== 'v1' })
  return {
    reading,
    read: scannedList({
      scanning,
      find: (window) => findPositions(db, apiKey, filter, { ...window, order }, scanning, visible),
      cursorOf,
      load: async (positions) =>
        positions.map((position): Slot => ({ position, cursor: cursorOf(position) })),
    }),
    cursor: ({ cursor }: Slot) => cursor,
    rowsPerQuery,
  }
}

/** The annotations with these ids, in the order of the ids. */
async function namedAnnotations(call: Call<Get>, annotationIds: string[], visible: Visible | undefined) {
  const { input, caller, db, services, abandoned } = call
  const reading = services.longReads.open(caller, abandoned)
  const scanning = scanningOf(reading)
  const window = { limit: Infinity, after: undefined, order: 'asc' as const }
  const filter = { ...filterOf(input), annotationIds }
  const { items: found } = await findPositions(db, caller.apiKey, filter, window, scanning, visible)
  const positions = annotationIds.flatMap((id): (Position | undefined)[] => {
    const same = found.filter(({ annotationId }) => annotationId === id)
    return same.length > 0 ? same : [undefined]
  })
  const slots = positions.map((position, index): Slot => ({ position, cursor: [index + 1] }))
  return {
    reading,
    async read({ limit, after: [start] = [0] }: Window): Promise<Slot[]> {
      return slots.slice(Number(start), Number(start) + limit)
    },
    cursor: ({ cursor }: Slot) => cursor,
    rowsPerQuery,
  }
}

async function present(
  call: Call<Get>,
  slots: readonly Slot[],
  locateRanges: LocateRanges,
): Promise<(CommentAnnotation | null)[]> {
  const { input, caller, db, version, services, abandoned } = call
  const { organizationId } = input
  const reading = services.longReads.open(caller, abandoned)
  const positions = slots.flatMap(({ position }) => position ?? [])
  const { user, apiKey } = caller
  const stored = await reading.query(() => annotations.findMany(db, apiKey, organizationId, positions))
  const unread =
    user && (await reading.query(() => findUnread(db, apiKey, organizationId, stored, user.userId)))
  const ranges = version === 'v1' ? undefined : await locateRanges(stored)
  const deps = { db, apiKey, organizationId, version, reading, unread, ranges }
  const shown = await presentAnnotations(deps, stored)
  const byRef = new Map(stored.map((annotation, index) => [refKey(annotation), shown[index]]))
  // In a list, an annotation that was deleted since its position was read is left out.
  return slots.flatMap(({ position }) =>
    position ? (byRef.get(refKey(position)) ?? (input.annotationIds ? null : [])) : null,
  )
}
