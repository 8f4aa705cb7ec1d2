import { expect } from 'vitest'
import {
  activitiesOf,
  canRead,
  canWrite,
  type DocumentId,
  documentIds,
  type Look,
  type RowId,
  inboxOf,
  liveChangesOf,
  organizationId,
  rowIds,
  rowOf,
  seenBy,
  type UserId,
  userIds,
  withKey,
  withToken,
} from './oracle.ts'
import { type Answer, type Ask, type Channel, marker, type Scene, viewedId } from './scene.ts'

const sorted = (ids: readonly string[]) => [...new Set(ids)].filter((id) => id !== marker).sort()

/** The data of the answer as `pick` returns it, or the error. */
const read = <T>(answer: Answer, pick: (data: never) => T): T | string =>
  'error' in answer ? `${answer.error.status} ${answer.error.message}` : pick(answer.result.data as never)

const ids = (field: string) => (data: Record<string, string>[]) =>
  sorted(data.map((one) => String(one[field])))

const denied = 'PERMISSION_DENIED User does not have access to document'
const unknown = 'INVALID_ARGUMENT Annotation does not exist.'

/** What is asked of the matrix. Every user, document, annotation, operation and channel has its turn in a sample. */
export type Extent = 'sample' | 'everything'

const channels = ['rest', 'call'] as const

/** The channels on which one user asks about one document: in a sample one, which the other document changes. */
const channelsOf = (userId: UserId, documentId: DocumentId, extent: Extent): readonly Channel[] =>
  extent === 'everything'
    ? channels
    : [channels[(userIds.indexOf(userId) + documentIds.indexOf(documentId)) % 2] as Channel]

/** This many of the list, from a place that moves with each turn. */
function someOf<T>(list: readonly T[], count: number, turn: number): T[] {
  const start = turn % list.length
  return [...list, ...list].slice(start, start + Math.min(count, list.length))
}

const placeOf = (documentId: DocumentId) => ({ organizationId, documentId })

/** What is read of a document as a whole. */
async function readDocument(ask: Ask, documentId: DocumentId) {
  const place = placeOf(documentId)
  const events = await ask('events.get', { ...place, limit: 500 })
  return {
    list: read(await ask('commentAnnotations.get', place), ids('annotationId')),
    events: read(events, (data: { events: never[] }) => ids('annotationId')(data.events)),
    activities: read(await ask('activities.get', place), ids('targetEntityId')),
  }
}

/** Everything that a user reads in a document with a token, with the comments of these annotations. */
async function readAll(ask: Ask, userId: UserId, documentId: DocumentId, commentsOf: readonly RowId[]) {
  const place = placeOf(documentId)
  const readComments = async (annotationId: RowId) => {
    const answer = await ask('comments.get', { ...place, annotationId })
    return [annotationId, read(answer, (data: { commentId: number }[]) => data.map((one) => one.commentId))]
  }
  const byId = await ask('commentAnnotations.get', { ...place, annotationIds: rowIds })
  return {
    ...(await readDocument(ask, documentId)),
    byId: read(byId, (data: (object | null)[]) => data.map((one) => one !== null)),
    comments: Object.fromEntries(await Promise.all(commentsOf.map(readComments))),
    ...(await readForUser(ask, userId, documentId)),
  }
}

/** What a backend can read for a user too. */
async function readForUser(ask: Ask, userId: UserId, documentId: DocumentId) {
  const counts = await ask('commentAnnotations.count', { organizationId, documentIds: [documentId], userId })
  const inbox = await ask('notifications.get', { ...placeOf(documentId), userId })
  return {
    counts: read(counts, (data: Record<string, object>) => data[documentId]),
    inbox: read(inbox, ids('targetAnnotationId')),
  }
}

/** What the rules say about `readAll`. */
function expectedReads(userId: UserId, documentId: DocumentId, commentIds: readonly RowId[]) {
  const mayRead = canRead(userId, documentId, withToken)
  const seen = seenBy(userId, documentId, withToken)
  const ifReadable = <T>(value: T) => (mayRead ? value : denied)
  const commentsOf = (id: RowId) => (seen.includes(id) ? [1, 2] : ifReadable(unknown))
  return {
    list: ifReadable(sorted(seen)),
    byId: ifReadable(rowIds.map((id) => seen.includes(id))),
    comments: Object.fromEntries(commentIds.map((id) => [id, commentsOf(id)])),
    events: ifReadable(sorted(seen)),
    activities: ifReadable(sorted(activitiesOf(userId, documentId, withToken))),
    counts: countsOf(userId, documentId, withToken),
    inbox: sorted(inboxOf(userId, documentId, withToken)),
  }
}

/** The scene has one more public annotation. All have comments that the user has not viewed, except one. */
function countsOf(userId: UserId, documentId: DocumentId, look: Look) {
  if (!canRead(userId, documentId, look)) return { total: 0, unread: 0 }
  const seen = seenBy(userId, documentId, look)
  return { total: seen.length + 1, unread: seen.filter((id) => id !== viewedId).length + 1 }
}

/** Everything that changes one annotation, or says something about it. `isForViewers`: a viewer may do it. */
const writes: { operation: string; isForViewers?: true; input: (annotationId: string) => object }[] = [
  {
    operation: 'commentAnnotations.update',
    input: (id) => ({ annotationIds: [id], updatedData: { status: { type: 'terminal' } } }),
  },
  {
    operation: 'commentAnnotations.update',
    input: (id) => ({ annotationIds: [id], updatedData: { visibility: { type: 'public' } } }),
  },
  { operation: 'commentAnnotations.delete', input: (id) => ({ annotationIds: [id] }) },
  {
    operation: 'commentAnnotations.markViewed',
    isForViewers: true,
    input: (id) => ({ annotationIds: [id] }),
  },
  {
    operation: 'commentAnnotations.subscribe',
    isForViewers: true,
    input: (annotationId) => ({ annotationId }),
  },
  {
    operation: 'comments.add',
    input: (annotationId) => ({ annotationId, commentData: [{ commentText: 'x' }] }),
  },
  {
    operation: 'comments.update',
    input: (annotationId) => ({ annotationId, commentIds: [1], updatedData: { commentText: 'x' } }),
  },
  { operation: 'comments.delete', input: (annotationId) => ({ annotationId, commentIds: [1] }) },
  { operation: 'comments.addReaction', input: (annotationId) => ({ annotationId, commentId: 1, icon: 'x' }) },
  {
    operation: 'comments.deleteReaction',
    input: (annotationId) => ({ annotationId, commentId: 1, icon: 'x' }),
  },
]

/** Expects that users see what the matrix says: over REST, on sockets, and in open documents. */
export async function expectVisible(scene: Scene, extent: Extent): Promise<void> {
  let turn = 0
  for (const userId of userIds) {
    for (const documentId of documentIds) {
      const commentsOf = extent === 'everything' ? rowIds : someOf(rowIds, 5, 5 * turn++)
      const expected = expectedReads(userId, documentId, commentsOf)
      for (const channel of channelsOf(userId, documentId, extent)) {
        const found = await readAll(scene.ask(userId, channel), userId, documentId, commentsOf)
        expect
          .soft({ userId, documentId, channel, ...found })
          .toEqual({ userId, documentId, channel, ...expected })
      }
      const live = liveChangesOf(userId, documentId)
      expect
        .soft({ userId, documentId, ...scene.changes(userId, documentId) })
        .toEqual({ userId, documentId, ...live })
      const seen = sorted(seenBy(userId, documentId, withToken))
      expect
        .soft({ userId, documentId, ...scene.updates(userId, documentId) })
        .toEqual({ userId, documentId, changed: seen, removed: [] })
      // Of what a backend reads for a user, only stored grants decide.
      const forUser = {
        counts: countsOf(userId, documentId, withKey),
        inbox: sorted(inboxOf(userId, documentId, withKey)),
      }
      expect
        .soft({ userId, documentId, ...(await readForUser(scene.askWithKey, userId, documentId)) })
        .toEqual({ userId, documentId, ...forUser })
    }
  }
  const left = sorted(rowIds.filter((id) => rowOf(id).later !== 'deleted'))
  for (const documentId of documentIds) {
    const { list, events, activities } = await readDocument(scene.askWithKey, documentId)
    const notifications = read(
      await scene.askWithKey('notifications.get', placeOf(documentId)),
      ids('targetAnnotationId'),
    )
    expect
      .soft({ list, events, activities, notifications })
      .toEqual({ list: left, events: sorted(rowIds), activities: sorted(rowIds), notifications: left })
  }
}

/** Expects that users cannot change, view or follow a hidden annotation, nor learn that it exists. */
export async function expectHidden(scene: Scene, extent: Extent): Promise<void> {
  const before = await stateOf(scene)
  let turn = 0
  for (const userId of userIds) {
    for (const documentId of documentIds) {
      const seen = seenBy(userId, documentId, withToken)
      const hidden = rowIds.filter((id) => !seen.includes(id))
      turn++
      for (const [index, { operation, isForViewers, input }] of writes.entries()) {
        // Each user tries each operation with other hidden annotations.
        const some = someOf(hidden, extent === 'everything' ? 3 : 1, turn + index)
        const answers: Record<string, unknown> = {}
        for (const channel of channelsOf(userId, documentId, extent)) {
          const ask = scene.ask(userId, channel)
          const askAbout = async (id: string) => {
            const answer = await ask(operation, { ...placeOf(documentId), ...input(id) })
            answers[`${channel} ${id}`] = JSON.parse(JSON.stringify(answer).replaceAll(`"${id}"`, '"ID"'))
          }
          await Promise.all([...some, 'absent'].map(askAbout))
        }
        const expected = Object.entries(answers).find(([name]) => name.endsWith(' absent'))?.[1]
        const isDenied = JSON.stringify(expected).includes('PERMISSION_DENIED')
        const mayTry = isForViewers ? canRead : canWrite
        expect
          .soft({ userId, documentId, operation, isDenied })
          .toEqual({ userId, documentId, operation, isDenied: !mayTry(userId, documentId, withToken) })
        const same = Object.fromEntries(Object.keys(answers).map((name) => [name, expected]))
        expect
          .soft({ userId, documentId, operation, answers })
          .toEqual({ userId, documentId, operation, answers: same })
      }
    }
  }
  expect(await stateOf(scene)).toEqual(before)
}

/** All that a backend reads about the annotations. */
async function stateOf({ client }: Scene) {
  const state: unknown[] = []
  for (const documentId of documentIds) {
    state.push((await client.commentAnnotations.get({ organizationId, documentId })).data)
  }
  return state
}
