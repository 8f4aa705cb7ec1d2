import { ApiError, type CommentAnnotation, type Input, type Operations } from '@plenum/protocol'
import { decide } from '../../access/permissions.ts'
import { loadSubjects } from '../../access/subjects.ts'
import { createVisible } from '../../access/viewers.ts'
import { reply } from '../../calls/answers/reply.ts'
import type { Call, Handlers } from '../../calls/call.ts'
import { evaluateSession } from '../../access/sessions/session-access.ts'
import type { Visible } from '../../store/comments/audience.ts'
import { groupBy } from '../../platform/group-by.ts'
import * as annotations from '../../store/comments/annotations.ts'
import { refKey } from '../../store/comments/comments.ts'
import { count, type Filter, list, type Position } from '../../store/comments/lists.ts'
import { findUnread } from '../../store/comments/views.ts'
import { root } from '../../store/documents/folders.ts'
import { unique } from '../shared/batches.ts'
import { storedLocationIds } from '../shared/locations.ts'
import { listAll, page, pageOfGroups, type Window } from '../shared/paging.ts'
import { denied, requireAccess } from './acting-user.ts'
import { addAnnotations } from './add-annotations.ts'
import { deleteAnnotations } from './delete-annotations.ts'
import { createLocateRanges, type LocateRanges } from './located-ranges.ts'
import { presentAnnotations } from './present.ts'
import { viewHandlers } from './views.ts'
import { updateAnnotations } from './update-annotations.ts'

type Family = Operations['commentAnnotations']
type Get = Family['get']

/** Fewer than in other lists, because each row comes with its comments. */
const rowsPerQuery = 50

export const annotationHandlers: Handlers<Family> = {
  ...viewHandlers,

  add: addAnnotations,

  async get(call) {
    const { input, version } = call
    if (version === 'v1' && input.documentId === undefined) {
      throw new ApiError('INVALID_ARGUMENT', 'documentId is required.')
    }
    if (input.annotationIds) return getByIds(call, unique(input.annotationIds))
    const filter = filterOf(input)
    const visible = await requireAccessToAll(call, filter)
    const { order = 'desc' } = input
    const source = {
      read: (window: Window) => list(call.db, call.caller.apiKey, filter, { ...window, order }, visible),
      cursor: ({ lastUpdated, documentId, number }: Position) => [lastUpdated, documentId, number],
      rowsPerQuery,
    }
    const locateRanges = createLocateRanges(call)
    const shown = (positions: readonly Position[]) => present(call, positions, locateRanges)
    if (version === 'v1') return listAll(call, source, shown)
    if (!input.groupByDocumentId) {
      const { data, extra, onSent } = await page(call, input, source, shown)
      return reply(data, { message: listMessage, extra: { ...extra }, onSent })
    }
    return pageOfGroups(call, input, source, async (positions) => {
      const found = await shown(positions)
      return found.map((one) => [String(one.metadata.documentId), one] as const)
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
    const { pause } = longReads.open(caller.apiKey)
    const visibleIn = await createReader(call, documentIds, pause)
    const counts: [string, { total: number; unread: number }][] = []
    for (const documentId of documentIds) {
      const visible = await visibleIn(documentId)
      const of = { organizationId, documentId, userId, statusIds }
      counts.push([
        documentId,
        visible ? await count(db, caller.apiKey, of, visible, pause) : { total: 0, unread: 0 },
      ])
    }
    return Object.fromEntries(counts)
  },
}

const listMessage = 'Annotation(s) fetched successfully.'

function filterOf(input: Input<Get>): Filter {
  const { organizationId, documentId, documentIds, folderId, locationIds, statusId } = input
  const named = [...(documentId === undefined ? [] : [documentId]), ...(documentIds ?? [])]
  return {
    organizationId,
    documentIds: named.length > 0 || documentIds ? unique(named) : undefined,
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

/** A user names the documents. All of them must be readable. */
async function requireAccessToAll(
  call: Call<Get>,
  { organizationId, documentIds }: Filter,
): Promise<Visible | undefined> {
  if (!call.caller.user) return undefined
  if (!documentIds?.length) throw new ApiError('INVALID_ARGUMENT', 'documentId is required.')
  let visible: Visible | undefined
  for (const documentId of documentIds) {
    visible = await requireAccess(call, { organizationId, documentId }, 'read')
  }
  return visible
}

/** What the user of a count may see in each document; undefined: the user may not read the document. */
async function createReader(
  { input: { organizationId, userId }, caller, db, now, services }: Call<Family['count']>,
  documentIds: readonly string[],
  pause: () => Promise<void>,
): Promise<(documentId: string) => Promise<Visible | undefined>> {
  const { user, apiKey } = caller
  if (user) {
    return async (documentId) => {
      await pause()
      const document = { organizationId, documentId }
      const { decision, overlay } = await evaluateSession(
        db,
        caller,
        document,
        user.session,
        now / 1000,
        services.permissionProvider.answersFor(caller),
      )
      return decision.allowed
        ? createVisible(db, { apiKey, organizationId, userId, now, overlay })
        : undefined
    }
  }
  const subjects = await loadSubjects(db, caller, organizationId, [userId], { documentIds }, pause)
  const visible = createVisible(db, { apiKey, organizationId, userId, now })
  return async (documentId) => {
    const subject = subjects?.document(userId, documentId)
    return subject !== undefined && decide(subject, now / 1000).allowed ? visible : undefined
  }
}

/** Answers in the order of the ids, with null for those that do not exist. */
async function getByIds(call: Call<Get>, annotationIds: string[]) {
  const { input, caller, db, version, services } = call
  const filter = { ...filterOf(input), annotationIds }
  const visible = await requireAccessToAll(call, filter)
  const window = { limit: annotationIds.length * 100, after: undefined, order: 'asc' as const }
  const positions = await services.longReads.query(
    caller.apiKey,
    () => list(db, caller.apiKey, filter, window, visible),
    annotationIds.length,
  )
  const found = await present(call, positions, createLocateRanges(call))
  if (input.groupByDocumentId && version !== 'v1') {
    const groups = groupBy(found, (one) => String(one.metadata.documentId))
    return Object.fromEntries(groups)
  }
  const data = annotationIds.flatMap((id): (CommentAnnotation | null)[] => {
    const same = found.filter((one) => one.annotationId === id)
    return same.length > 0 ? same : [null]
  })
  return version === 'v1' ? data : reply(data, { message: listMessage })
}

async function present(
  call: Call<Get>,
  positions: readonly Position[],
  locateRanges: LocateRanges,
): Promise<CommentAnnotation[]> {
  const { input, caller, db, version, services } = call
  const { organizationId } = input
  const { pause } = services.longReads.open(caller.apiKey)
  const stored = await annotations.findMany(db, caller.apiKey, organizationId, positions)
  const byRef = new Map(stored.map((annotation) => [refKey(annotation), annotation]))
  // One that was deleted since the positions were read is left out.
  const inOrder = positions.flatMap((position) => byRef.get(refKey(position)) ?? [])
  const { user, apiKey } = caller
  const unread = user && (await findUnread(db, apiKey, organizationId, inOrder, user.userId))
  const ranges = version === 'v1' ? undefined : await locateRanges(inOrder)
  return presentAnnotations({ db, apiKey, organizationId, version, pause, unread, ranges }, inOrder)
}
