import { encodeJson, joinedBody } from '../../calls/answers/encoded-json.ts'
import type { LongRead, LongReads } from '../../platform/turns/long-reads.ts'
import type { StoredAudience } from '../../store/comments/audience.ts'
import type { StoredAnnotation } from '../../store/comments/annotation.ts'
import { findMany } from '../../store/comments/annotations.ts'
import { readChanges } from '../../store/comments/changes.ts'
import { findUnreadOf } from '../../store/comments/views.ts'
import type { Database, Db } from '../../store/engine/db.ts'
import type { DocumentRef } from '../../store/refs.ts'
import { storedRanges } from './located-ranges.ts'
import { presentAnnotations } from './present.ts'

/** More changes than this are not sent: clients load the annotations again. */
const maxChanges = 50
/** A larger annotation is only named: clients load it. */
const maxJsonLength = 64 * 1024
/** On SQLite, one statement for each user and annotation takes about 10 µs. */
const maxViewsPerQuery = 250

interface ChangedThreads {
  changed: {
    annotationId: string
    json: string | undefined
    audience: StoredAudience | null
    createdSeq: number
    audienceSeq: number
  }[]
  removed: AnnotationOfUser[]
  /** By user: the ids of the changed annotations that have a comment which the user has not seen. */
  unread: ReadonlyMap<string, ReadonlySet<string>>
  isTooMany: boolean
}

interface AnnotationOfUser {
  annotationId: string
  audience: StoredAudience | null
}

/** What open documents read of their annotations. */
export function createThreadReads(database: Database, longReads: LongReads) {
  const open = (apiKey: string): Reading => ({
    db: database.read,
    apiKey,
    reading: longReads.open({ apiKey }),
  })
  return {
    /** The annotations that changed after `from`, up to and including `to`, as the clients of these users receive them. */
    async readChanged(
      apiKey: string,
      document: DocumentRef,
      { from, to }: { from: number; to: number },
      userIds: readonly string[],
    ): Promise<ChangedThreads> {
      const changes = await readChanged(open(apiKey), document, from, to, userIds)
      // Clients are sent only what is durable.
      await database.durable()
      return changes
    },
    /** Those of the annotations with these numbers in which nothing is unread for the user. */
    readViewed: (apiKey: string, document: DocumentRef, userId: string, numbers: readonly number[]) =>
      readViewed(open(apiKey), document, userId, numbers),
  }
}

interface Reading {
  db: Db
  apiKey: string
  reading: LongRead
}

async function readChanged(
  { db, apiKey, reading }: Reading,
  document: DocumentRef,
  from: number,
  to: number,
  userIds: readonly string[],
): Promise<ChangedThreads> {
  const { changed, removed } = await readChanges(db, apiKey, document, { from, to }, maxChanges + 1)
  if (changed.length + removed.length > maxChanges)
    return { changed: [], removed: [], unread: new Map(), isTooMany: true }
  const { organizationId } = document
  const deps = { db, apiKey, organizationId, version: 'v2', reading, ranges: storedRanges(changed) } as const
  const shown = await presentAnnotations(deps, changed)
  return {
    changed: changed.map(({ annotationId, audience, createdSeq, audienceSeq }, index) => {
      const json = joinedBody(encodeJson(shown[index])).toString()
      return {
        annotationId,
        json: json.length > maxJsonLength ? undefined : json,
        audience,
        createdSeq,
        audienceSeq,
      }
    }),
    removed,
    unread: await readUnread({ db, apiKey, reading }, organizationId, changed, userIds),
    isTooMany: false,
  }
}

async function readUnread(
  { db, apiKey, reading }: Reading,
  organizationId: string,
  changed: readonly StoredAnnotation[],
  userIds: readonly string[],
): Promise<Map<string, Set<string>>> {
  const unread = new Map<string, Set<string>>()
  const usersPerQuery = Math.max(1, Math.floor(maxViewsPerQuery / Math.max(1, changed.length)))
  for (let from = 0; from < userIds.length; from += usersPerQuery) {
    const some = userIds.slice(from, from + usersPerQuery)
    const found = await reading.query(() => findUnreadOf(db, apiKey, organizationId, changed, some))
    for (const [userId, annotations] of found)
      unread.set(userId, new Set([...annotations].map(({ annotationId }) => annotationId)))
  }
  return unread
}

async function readViewed(
  { db, apiKey, reading }: Reading,
  { organizationId, documentId }: DocumentRef,
  userId: string,
  numbers: readonly number[],
): Promise<AnnotationOfUser[]> {
  const refs = numbers.map((number) => ({ documentId, number }))
  const viewed: AnnotationOfUser[] = []
  for (let from = 0; from < refs.length; from += maxViewsPerQuery) {
    const some = refs.slice(from, from + maxViewsPerQuery)
    const found = await reading.query(() => findMany(db, apiKey, organizationId, some))
    const unread = await reading.query(() => findUnreadOf(db, apiKey, organizationId, found, [userId]))
    viewed.push(...found.filter((one) => !unread.get(userId)?.has(one)))
  }
  return viewed
}
