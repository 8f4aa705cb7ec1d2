import { ApiError, type CommentAnnotation, type Input, type Operations } from '@plenum/protocol'
import { decide } from '../../access/permissions.ts'
import { loadSubjects } from '../../access/subjects.ts'
import { createVisible } from '../../access/viewers.ts'
import { reply } from '../../calls/answers/reply.ts'
import type { Call, Handlers } from '../../calls/call.ts'
import { groupBy } from '../../platform/group-by.ts'
import * as annotations from '../../store/comments/annotations.ts'
import { refKey } from '../../store/comments/comments.ts'
import { count, type Filter, list, type Position } from '../../store/comments/lists.ts'
import { root } from '../../store/documents/folders.ts'
import { unique } from '../shared/batches.ts'
import { storedLocationIds } from '../shared/locations.ts'
import { listAll, page, pageOfGroups, type Window } from '../shared/paging.ts'
import { addAnnotations } from './add-annotations.ts'
import { deleteAnnotations } from './delete-annotations.ts'
import { presentAnnotations } from './present.ts'
import { updateAnnotations } from './update-annotations.ts'

type Family = Operations['commentAnnotations']
type Get = Family['get']

/** Fewer than in other lists, because each row comes with its comments. */
const rowsPerQuery = 50

export const annotationHandlers: Handlers<Family> = {
  add: addAnnotations,

  async get(call) {
    const { input, version } = call
    if (version === 'v1' && input.documentId === undefined) {
      throw new ApiError('INVALID_ARGUMENT', 'documentId is required.')
    }
    if (input.annotationIds) return getByIds(call, unique(input.annotationIds))
    const filter = filterOf(input)
    const { order = 'desc' } = input
    const source = {
      read: (window: Window) => list(call.db, call.caller.apiKey, filter, { ...window, order }),
      cursor: ({ lastUpdated, documentId, number }: Position) => [lastUpdated, documentId, number],
      rowsPerQuery,
    }
    const shown = (positions: readonly Position[]) => present(call, positions)
    if (version === 'v1') return listAll(call, source, shown)
    if (!input.groupByDocumentId) {
      const { data, extra, onSent } = await page(call, input, source, shown)
      return reply(data, { message: listMessage, extra: { ...extra }, onSent })
    }
    return pageOfGroups(call, input, source, async (positions) => {
      const found = await present(call, positions)
      return found.map((one) => [String(one.metadata.documentId), one] as const)
    })
  },

  update: updateAnnotations,

  delete: deleteAnnotations,

  async count({ input, caller, db, now, services: { longReads } }) {
    const { organizationId, userId, statusIds } = input
    const documentIds = unique(input.documentIds)
    const { pause } = longReads.open(caller.apiKey)
    const subjects = await loadSubjects(db, caller, organizationId, [userId], { documentIds }, pause)
    const visible = createVisible(db, { apiKey: caller.apiKey, organizationId, userId, now })
    const counts: [string, { total: number; unread: number }][] = []
    for (const documentId of documentIds) {
      const subject = subjects?.document(userId, documentId)
      const mayRead = subject !== undefined && decide(subject, now / 1000).allowed
      const of = { organizationId, documentId, userId, statusIds }
      counts.push([
        documentId,
        mayRead ? await count(db, caller.apiKey, of, visible, pause) : { total: 0, unread: 0 },
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

/** Answers in the order of the ids, with null for those that do not exist. */
async function getByIds(call: Call<Get>, annotationIds: string[]) {
  const { input, caller, db, version, services } = call
  const filter = { ...filterOf(input), annotationIds }
  const window = { limit: annotationIds.length * 100, after: undefined, order: 'asc' as const }
  const positions = await services.longReads.query(
    caller.apiKey,
    () => list(db, caller.apiKey, filter, window),
    annotationIds.length,
  )
  const found = await present(call, positions)
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

async function present(call: Call<Get>, positions: readonly Position[]): Promise<CommentAnnotation[]> {
  const { input, caller, db, version, services } = call
  const { organizationId } = input
  const { pause } = services.longReads.open(caller.apiKey)
  const stored = await annotations.findMany(db, caller.apiKey, organizationId, positions)
  const byRef = new Map(stored.map((annotation) => [refKey(annotation), annotation]))
  // One that was deleted since the positions were read is left out.
  const inOrder = positions.flatMap((position) => byRef.get(refKey(position)) ?? [])
  return presentAnnotations({ db, apiKey: caller.apiKey, organizationId, version, pause }, inOrder)
}
